import API
import EventSourcing
import Identity
import JSON

/// Reads an export and has its accounts imported, several batches at a time. A run that is cut off is begun anew: accounts
/// that it had imported are unchanged then.
struct ImportRun {
    let realm: RealmID
    let from: ImportSource
    let choices: ImportChoices
    let isTrial: Bool
    let requests: AdminRequests
    let console: Console
    let asJSON: Bool

    private static let batch = 200
    /// The route takes 4 MiB at once.
    private static let batchBytes = 3 << 20
    /// Batches that are on their way: one is written while others are read and prepared.
    private static let flights = 4

    /// An account, and the place that it has in the export.
    private struct Line: Sendable {
        let number: Int
        let record: Result<JSONObject, RecordFault>
        var leftOut: [String] = []
        /// Length of the record in the request.
        var bytes = 0
    }

    private struct Answer: Sendable {
        let lines: [Line]
        let outcomes: [JSON]
        let takesPassphrases: Bool
    }

    func run(_ file: RecordSource) async throws -> ImportReport {
        let form = ExportForm.of(from)
        let reader = try form.reader(of: file)
        let progress = Progress("import", unit: "accounts", on: console)
        var report = ImportReport()
        var takesPassphrases = true
        var answers: [Task<Answer, any Error>] = []
        func settle() async throws {
            let answer = try await answers.removeFirst().value
            takesPassphrases = takesPassphrases && answer.takesPassphrases
            tell(answer, &report)
            let total = file.size.map { size in
                Int64(Double(report.records) * Double(size) / Double(max(1, file.read)))
            }
            progress.advance(to: Int64(report.records), of: total)
        }
        defer { for answer in answers { answer.cancel() } }
        /// Nil at the end, and where the rest cannot be read: what stands before it is taken all the same.
        func next() -> ExportedRecord? {
            do throws(CommandFailure) {
                return try reader.next()
            } catch {
                report.fault = error
                return nil
            }
        }
        var (lines, bytes): ([Line], Int) = ([], 0)
        while let record = next() {
            try Task.checkCancellation()
            let line = line(of: record, form)
            if lines.count == Self.batch || bytes + line.bytes > Self.batchBytes {
                answers.append(send(lines))
                (lines, bytes) = ([], 0)
                if answers.count == Self.flights { try await settle() }
            }
            lines.append(line)
            bytes += line.bytes
        }
        if !lines.isEmpty { answers.append(send(lines)) }
        while !answers.isEmpty { try await settle() }
        progress.finish()
        if let fault = report.fault, report.records == 0 { throw fault }
        guard report.records > 0 else {
            throw CommandFailure(
                "\(file.name) holds no accounts in the form of \(from.rawValue)",
                remedy: "docs/moving-in.md says how each export is made.")
        }
        if !takesPassphrases, report.hashes > 0 {
            console.complain(
                "The realm \(realm) does not offer sign-in by passphrase: \(report.hashes) passphrases are "
                    + "kept and cannot be used. `urd realm set \(realm) --login-passphrase` offers it."
            )
        }
        return report
    }

    private func line(of record: ExportedRecord, _ form: ExportForm) -> Line {
        do throws(RecordFault) {
            let json: JSON
            do {
                json = try JSON.parse(try record.content.get(), limits: .foreign)
            } catch let error as JSONError {
                throw RecordFault(reason: "malformed_json", detail: "\(error.description).")
            } catch let fault as RecordFault {
                throw fault
            } catch {
                throw RecordFault(reason: "malformed", detail: "It cannot be read.")
            }
            var account = try ForeignAccount(json, choices)
            try form.read(&account)
            account.finish()
            let bytes = JSON.object(account.record).canonical()
            do {
                _ = try JSON.parse(bytes, limits: .stored)
            } catch {
                throw RecordFault(reason: "malformed", detail: "A text has a null character.")
            }
            return Line(
                number: record.line, record: .success(account.record), leftOut: account.leftOut,
                bytes: bytes.count)
        } catch {
            return Line(number: record.line, record: .failure(error))
        }
    }

    private func send(_ lines: [Line]) -> Task<Answer, any Error> {
        Task {
            let accounts = lines.compactMap { try? JSON.object($0.record.get()) }
            guard !accounts.isEmpty else {
                return Answer(lines: lines, outcomes: [], takesPassphrases: true)
            }
            let answer = try await requests.read(
                "importAccounts",
                [
                    "realm": .string(realm.name), "source": .string(from.rawValue),
                    "dry_run": .bool(isTrial), "accounts": .array(accounts),
                ])
            return Answer(
                lines: lines, outcomes: answer["items"]?.array ?? [],
                takesPassphrases: answer["takes_passphrases"]?.bool ?? true)
        }
    }

    private func tell(_ answer: Answer, _ report: inout ImportReport) {
        var outcomes = answer.outcomes.makeIterator()
        for line in answer.lines {
            switch line.record {
            case .failure(let fault):
                var members: JSONObject = [
                    "status": "refused", "reason": .string(fault.reason),
                    "detail": .string(fault.detail),
                ]
                members["field"] = fault.field.map { .string($0) }
                tell(line, .object(members), &report, hasHash: false)
            case .success(let record):
                tell(
                    line, outcomes.next() ?? .null, &report,
                    hasHash: record["passphrase_hash"] != nil)
            }
        }
    }

    private func tell(
        _ line: Line, _ outcome: JSON, _ report: inout ImportReport, hasHash: Bool
    ) {
        let status = outcome["status"]?.string ?? "refused"
        let parts = line.leftOut + (outcome["left_out"]?.array?.compactMap(\.string) ?? [])
        report.count(status, leftOut: status == "imported" ? parts : [], hasHash: hasHash)
        if asJSON {
            var members = outcome.object ?? [:]
            members["line"] = .integer(Int64(line.number))
            members["left_out"] =
                status == "imported" && !parts.isEmpty
                ? .array(parts.map { .string($0) }) : nil
            console.writeLine(.object(members))
        } else if status == "refused" {
            let field = outcome["field"]?.string.map { " (\($0))" } ?? ""
            console.complain(
                "line \(line.number): \(outcome["reason"]?.string ?? "")\(field): "
                    + "\(outcome["detail"]?.string ?? "")")
        }
    }
}

extension JSON.Limits {
    /// PostgreSQL keeps the null character in no text.
    fileprivate static let stored = JSON.Limits(takesNull: false)
}

package import EventSourcing
package import Values

/// The changes of a disclosure.
package enum DisclosureChange {
    package typealias Change<Rejection: Error & Equatable & Sendable> =
        EventSourcing.Change<Versioned<Disclosure>, Rejection>

    package static let longestReason = 300

    package enum RecordRejection: Error, Equatable, Sendable {
        case idTaken
        case invalid(FieldFault)
    }

    /// Puts on record that sealed data is disclosed, before it is.
    /// - Parameter accounts: The accounts whose data is disclosed.
    /// - Parameter reason: The reason that the administrator gave.
    package static func record(
        _ id: UUID, kind: DisclosureKind, accounts: [UUID], reason: String? = nil
    ) -> Change<RecordRejection> {
        Change(of: id) { facts throws(RecordRejection) in
            guard !facts.exists else { throw .idTaken }
            if let reason {
                do throws(FieldFault.Reason) {
                    try TextRule.label(reason, limit: Self.longestReason)
                } catch {
                    throw .invalid(FieldFault("reason", error))
                }
            }
            return Decision(DisclosureEvent.made(kind, accounts: accounts, reason: reason), in: id)
        }
    }

    package enum RecordStreamedRejection: Error, Equatable, Sendable {
        case idTaken
    }

    /// Puts on record that personal data is sent to a subscription, before it is.
    package static func recordStreamed(
        _ id: UUID, batch: StreamedBatch
    ) -> Change<RecordStreamedRejection> {
        Change(of: id) { facts throws(RecordStreamedRejection) in
            guard !facts.exists else { throw .idTaken }
            return Decision(DisclosureEvent.streamed(batch), in: id)
        }
    }

    package enum IssueCaseFileRejection: Error, Equatable, Sendable {
        /// Under this id another file was issued.
        case idTaken
        case invalid(FieldFault)
    }

    /// Puts on record that a case file is handed out, before it is. To say the same again changes nothing.
    package static func issueCaseFile(_ id: UUID, file: IssuedCaseFile)
        -> EventSourcing.Change<Versioned<CaseFile>, IssueCaseFileRejection>
    {
        .init(of: id) { facts throws(IssueCaseFileRejection) in
            if let issued = facts.state.issued {
                guard issued == file else { throw .idTaken }
                return Decision()
            }
            do throws(FieldFault.Reason) {
                try TextRule.label(file.reason, limit: DisclosureChange.longestReason)
            } catch {
                throw .invalid(FieldFault("reason", error))
            }
            return Decision(CaseFileEvent.issued(file), in: id)
        }
    }
}

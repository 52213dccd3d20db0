import Synchronization

/// A read model as its file under `Projections/` defines it. Its SQL is a template: `{table}` begins the
/// names of tables and function, which have the number of their build in them. A file with views of
/// analysts is also built as of a moment, in a schema of its own (`Schema/as_of_builds.sql`): what it
/// names there has another place, which `{schema}`, `{analyst}`, `{analyst_realm}` and `{log}` stand for.
public struct Projection: Sendable {
    public enum Kind: String, Sendable {
        /// Moves with the log, in the transaction that appends.
        case inline
        /// Moves behind the log.
        case following
    }

    public let name: String
    public let kind: Kind
    /// The event types that it looks at; nil where it looks at all.
    let types: [String]?
    /// Whether the rows of each stream stand for themselves, so that several connections can share
    /// the filling, stream by stream.
    let isShardable: Bool
    private let text: [String: String]
    /// What decides whether two builds are of the same making: the SQL without its comments.
    let definition: String

    private static let sections = ["tables", "apply", "finish", "readers"]
    private static let views = "analysts"

    /// Nil where the file lacks a section or does not say what kind it is.
    public init?(name: String, file: String) {
        var header: [String: String] = [:]
        var text: [String: String] = [:]
        var section: String?
        var definition = ""
        for line in file.split(separator: "\n", omittingEmptySubsequences: false) {
            if let (key, value) = Self.directive(line) {
                if key == "section" {
                    section = value
                    text[value] = ""
                } else {
                    header[key] = value
                }
                definition += "\(key) \(value)\n"
                continue
            }
            guard let current = section else { continue }
            text[current, default: ""] += line + "\n"
            let code = line.drop(while: { $0 == " " })
            if !code.isEmpty, !code.hasPrefix("--") { definition += line + "\n" }
        }
        guard let kind = header["kind"].flatMap(Kind.init), !name.isEmpty,
            Self.sections.allSatisfy({ text[$0] != nil }),
            text.count == Self.sections.count + (text[Self.views] == nil ? 0 : 1)
        else { return nil }
        self.name = name
        self.kind = kind
        types = header["types"].map { $0.split(separator: " ").map(String.init) }
        isShardable = text["apply"]?.contains("{shard}") ?? false
        self.text = text
        // As builds had it that were made when files spelt the table's name.
        self.definition = definition.replacing("{table}", with: "urd.\(name)_{build}")
    }

    /// `-- kind: inline` and the like: a comment that means something.
    private static func directive(_ line: Substring) -> (key: String, value: String)? {
        for key in ["section", "kind", "types"] where line.hasPrefix("-- \(key): ") {
            return (key, String(line.dropFirst(key.utf8.count + 5)))
        }
        return nil
    }

    // MARK: - As SQL

    func tables(_ build: Int) -> String { instantiate("tables", build) }
    func finish(_ build: Int) -> String { instantiate("finish", build) }

    /// The views that readers use, and the one that says how far they are.
    func readers(_ build: Int) -> String {
        instantiate("readers", build) + instantiate(Self.views, build) + """

            create or replace view urd.\(name)_position as
                select h.realm, h.epoch, h.position as head,
                    case when p.attached then h.position else coalesce(p.position, 0) end
                        as position,
                    p.attached or coalesce(p.position, 0) = h.position as current, p.halted_at
                from urd.realm_log h
                left join urd.projection_position p
                    on p.realm = h.realm and p.projection = '\(name)' and p.build = \(build);
            grant select on urd.\(name)_position to urd_app, urd_observer;
            """
    }

    func apply(_ build: Int) -> String {
        instantiate("apply", build)
    }

    /// The same function once more, for the part of the streams that falls to one connection.
    func shardedApply(_ build: Int) -> String {
        instantiate(
            "apply", build, parameters: ", p_shard integer, p_shards integer",
            condition: "and abs(uuid_hash(e.stream)::bigint) % p_shards = p_shard")
    }

    func applyName(_ build: Int) -> String { "urd.\(name)_\(build)_apply" }

    /// The tables of a build: each begins with the projection's name and the build's number.
    func tableNames(_ build: Int) -> [String] {
        let prefix = "create table urd."
        return tables(build).split(separator: "\n").filter { $0.hasPrefix(prefix) }.map { line in
            String(line.dropFirst(prefix.utf8.count).prefix { $0 != " " && $0 != "(" })
        }
    }

    private func instantiate(
        _ section: String, _ build: Int, parameters: String = "", condition: String = ""
    ) -> String {
        template(section, parameters: parameters, condition: condition)
            .replacing("{table}", with: "urd.\(name)_\(build)")
            .replacing("{build}", with: String(build))
            .replacing("{schema}", with: "urd")
            .replacing("{log}", with: "urd.event")
            .replacing("{analyst}", with: "analyst")
            .replacing("{analyst_realm}", with: "analyst.realm()")
            .replacing("{as_it_is}", with: "as it is now")
    }

    /// A section with places for the names of what it makes and reads.
    private func template(
        _ section: String, parameters: String = "", condition: String = ""
    ) -> String {
        let listed = (types ?? []).joined(separator: ",")
        return (text[section] ?? "")
            .replacing("{types}", with: "'{\(listed)}'::text[]")
            .replacing("{shard_parameters}", with: parameters)
            .replacing("{shard}", with: condition)
    }

    /// The sections that a realm as of a moment has, whose names PostgreSQL fills in; none where no
    /// analyst sees the read model.
    var sectionsAsOf: [(name: String, text: String)] {
        guard text[Self.views] != nil else { return [] }
        return ["tables", "apply", "finish", Self.views].map { ($0, template($0)) }
    }
}

extension String {
    /// Every occurrence. The standard library's own lives in a module that Urd does without.
    func replacing(_ token: String, with value: String) -> String {
        let token = Array(token.utf8)
        let bytes = Array(utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == token.first, bytes[index...].starts(with: token) {
                result.append(contentsOf: value.utf8)
                index += token.count
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

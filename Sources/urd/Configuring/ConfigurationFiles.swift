import Cryptography
import EventSourcing
import JSON
import Values
import YAML

/// Configuration files as they were read: what they say of each realm, and where each value stands.
struct ConfigurationFiles: Sendable {
    private struct Source: Sendable {
        let path: String
        let document: YAMLDocument
    }

    private let sources: [Source]
    /// SHA-256 of the file; of several, of their digests one behind the other.
    let digest: String
    private(set) var realms: JSONObject = [:]

    init(_ paths: [String]) throws {
        guard !paths.isEmpty else {
            throw UsageError("missing FILE: a configuration in YAML or JSON")
        }
        var digests: [[UInt8]] = []
        var sources: [Source] = []
        for path in paths {
            let bytes = try File.bytes(path, limit: YAMLDocument.mostBytes + 1)
            digests.append(SHA256.hash(bytes))
            do throws(YAMLError) {
                sources.append(Source(path: path, document: try YAMLDocument(bytes)))
            } catch {
                throw CommandFailure("\(path): \(error)")
            }
        }
        self.sources = sources
        digest = Hex.encode(digests.count == 1 ? digests[0] : SHA256.hash(digests.flatMap { $0 }))
        for source in sources { try add(source) }
        try checkHosts()
    }

    // MARK: - Realms

    private mutating func add(_ source: Source) throws(CommandFailure) {
        guard let members = source.document.value.object, members["realms"] != nil else {
            throw CommandFailure("\(source.path): the member `realms` is missing at line 1")
        }
        for name in members.keys where name != "realms" && name != "$schema" {
            throw failure(
                "unknown member `\(name)`", at: name, in: source,
                hint: NearestName.find(name, among: ["realms", "$schema"]).map {
                    "did you mean `\($0)`?"
                })
        }
        guard let found = members["realms"]?.object else {
            throw failure("`realms` must have each realm under its name", at: "realms", in: source)
        }
        for (name, configuration) in found {
            let place = "realms/\(name)"
            guard RealmID(name) != nil else {
                throw failure("`\(name)` cannot be the name of a realm", at: place, in: source)
            }
            guard let configuration = configuration.object ?? (configuration.isNull ? [:] : nil)
            else { throw failure("`\(name)` must have members", at: place, in: source) }
            realms[name] = .object(
                try merged(realms[name]?.object ?? [:], configuration, at: place, source))
        }
    }

    /// What two files say of a realm: together, but nothing in both.
    private func merged(
        _ known: JSONObject, _ more: JSONObject, at place: String, _ source: Source
    ) throws(CommandFailure) -> JSONObject {
        var merged = known
        for (kind, value) in more {
            switch (merged[kind], value) {
            case (nil, _): merged[kind] = value
            case (.array(let first)?, .array(let second)): merged[kind] = .array(first + second)
            case (.object(var things)?, .object(let others)):
                for (name, thing) in others {
                    guard things[name] == nil else {
                        throw twice(name, at: "\(place)/\(kind)/\(name)", source)
                    }
                    things[name] = thing
                }
                merged[kind] = .object(things)
            case (.some, _): throw twice(kind, at: "\(place)/\(kind)", source)
            }
        }
        return merged
    }

    /// A host leads to one realm. Each realm's plan would find it free.
    private func checkHosts() throws(CommandFailure) {
        var found: [String: String] = [:]
        for (realm, configuration) in realms {
            for (index, host) in (configuration["hosts"]?.array ?? []).enumerated() {
                guard let host = host.string, let other = found.updateValue(realm, forKey: host),
                    other != realm
                else { continue }
                throw CommandFailure(
                    sentence(
                        [
                            "path": .string("hosts/\(index)"),
                            "what": .string(
                                "`\(host)` is a host of both realms, `\(other)` and `\(realm)`,"),
                        ], in: realm))
            }
        }
    }

    private func twice(_ name: String, at place: String, _ source: Source) -> CommandFailure {
        let first = sources.first { $0.path != source.path && $0.document.has(place) }
        let other = first.map { " and at line \($0.document.line(of: place)) of \($0.path)" } ?? ""
        return CommandFailure(
            "`\(name)` stands twice: at line \(source.document.line(of: place)) of \(source.path)\(other)"
        )
    }

    // MARK: - Places

    private func failure(
        _ what: String, at place: String, in source: Source, hint: String? = nil
    ) -> CommandFailure {
        CommandFailure(Self.sentence(what, source, place, hint))
    }

    private static func sentence(
        _ what: String, _ source: Source, _ place: String, _ hint: String?
    ) -> String {
        "\(source.path): \(what) at line \(source.document.line(of: place))"
            + (hint.map { ": \($0)" } ?? "")
    }

    /// An error of a realm's configuration, with its file and line.
    func sentence(_ error: JSON, in realm: String) -> String {
        let what = error["what"]?.string ?? ""
        let hint = error["hint"]?.string
        let parts = "realms/\(realm)/\(error["path"]?.string ?? "")".split(separator: "/")
        if parts.count == 4, var index = Int(parts[3]) {
            // Several files may each have a part of a list.
            for source in sources {
                let list = source.document.value["realms"]?[realm]?[String(parts[2])]?.array
                guard let count = list?.count else { continue }
                let place = "realms/\(realm)/\(parts[2])/\(index)"
                if index < count { return Self.sentence(what, source, place, hint) }
                index -= count
            }
        }
        for count in stride(from: parts.count, through: 0, by: -1) {
            let place = parts.prefix(count).joined(separator: "/")
            if let source = sources.first(where: { $0.document.has(place) }) {
                return Self.sentence(what, source, place, hint)
            }
        }
        return what
    }

    // MARK: - Secrets

    /// The secrets that a realm's configuration names, by their places. What is not there is left out.
    func secrets(of realm: String, _ environment: Environment) throws(SystemFailure) -> JSONObject {
        var secrets: JSONObject = [:]
        try Self.collect(realms[realm] ?? .null, environment, into: &secrets)
        return secrets
    }

    private static func collect(
        _ value: JSON, _ environment: Environment, into secrets: inout JSONObject
    ) throws(SystemFailure) {
        switch value {
        case .null, .bool, .integer: break
        case .array(let elements):
            for element in elements { try collect(element, environment, into: &secrets) }
        case .object(let members):
            for member in members { try collect(member.value, environment, into: &secrets) }
        case .string(let place):
            if place.hasPrefix("env:") {
                secrets[place] = environment[String(place.dropFirst(4))].map { .string($0) }
            } else if place.hasPrefix("file:/") {
                let path = String(place.dropFirst(5))
                guard File.exists(path) else { return }
                // One end of a line is no part of the secret. To Swift CR and LF are one character.
                let text = String(decoding: try File.bytes(path, limit: 100_000), as: UTF8.self)
                let isEnded = text.last == "\n" || text.last == "\r\n"
                let secret = isEnded ? text.dropLast() : text[...]
                if !secret.isEmpty { secrets[place] = .string(String(secret)) }
            }
        }
    }
}

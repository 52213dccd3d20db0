internal import CMaxMind
internal import Glibc

/// A database of addresses in the format of MaxMind (version 2), as it was when it was opened: it is a copy of
/// the file, which may be replaced or cut off meanwhile.
@safe
public final class GeoDatabase: Sendable {
    /// Why a file is not taken.
    public enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        case unreadable(code: Int32)
        /// It is no database, or a part of one.
        case malformed
        /// The file was written to while it was read.
        case changing
        case noMemory

        public var description: String {
            switch self {
            case .unreadable(let code): unsafe String(cString: strerror(code))
            case .malformed: "it is no database in the format of MaxMind, or only a part of one"
            case .changing: "it is being written to"
            case .noMemory: "there is no memory for it"
            }
        }
    }

    /// What is known of a network.
    public struct Entry: Equatable, Sendable {
        /// By ISO 3166-1, such as `CH`.
        public var country: String?
        /// Number of the autonomous system.
        public var asn: Int64?
        public var city: String?
        /// In degrees, north and east.
        public var coordinates: Coordinates?
    }

    public struct Coordinates: Equatable, Sendable {
        public let latitude: Double
        public let longitude: Double
    }

    /// What it calls itself, such as `GeoLite2-City`.
    public let type: String
    /// Build time of the database, in seconds since 1970.
    public let builtAt: Int64
    private nonisolated(unsafe) let database: OpaquePointer

    public init(path: String) throws(Failure) {
        var opened: OpaquePointer?
        let fault = unsafe geo_database_open(path, &opened)
        let code = errno
        switch fault {
        case geo_database_good: break
        case geo_database_unreadable: throw .unreadable(code: code)
        case geo_database_changing: throw .changing
        case geo_database_no_memory: throw .noMemory
        default: throw .malformed
        }
        guard let opened = unsafe opened else { throw .malformed }
        unsafe database = opened
        unsafe builtAt = geo_database_built(opened)
        var name = [CChar](repeating: 0, count: 128)
        unsafe geo_database_type(opened, &name, name.count)
        type = Self.text(of: name)
    }

    deinit {
        unsafe geo_database_close(database)
    }

    /// Nil where nothing is known of the address.
    /// - Parameter address: four bytes, or sixteen.
    public func entry(of address: [UInt8]) -> Entry? {
        var found = geo_entry()
        guard unsafe geo_database_find(database, address, address.count, &found) else {
            return nil
        }
        var entry = Entry()
        entry.country = Self.filled(found.country)
        entry.city = Self.filled(found.city)
        if found.asn > 0 { entry.asn = found.asn }
        if found.has_coordinates {
            entry.coordinates = Coordinates(latitude: found.latitude, longitude: found.longitude)
        }
        return entry
    }

    private static func filled<Characters>(_ characters: Characters) -> String? {
        var characters = characters
        let text = unsafe withUnsafeBytes(of: &characters) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return text.isEmpty ? nil : text
    }

    private static func text(of characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

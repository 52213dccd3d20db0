public import EventSourcing
public import Values

/// Puts on record that a case file is handed out, before it is. To say the same again changes nothing.
public struct IssueCaseFile: Command {
    public var id: UUID
    public var file: IssuedCaseFile

    public init(id: UUID, file: IssuedCaseFile) {
        self.id = id
        self.file = file
    }

    public enum Rejection: Error, Equatable, Sendable {
        /// Under this id another file was issued.
        case idTaken
        case invalid(FieldFault)
    }

    public func gather(
        _ streams: some StreamReader
    ) async throws(LogFailure) -> Versioned<CaseFile> {
        try await streams.read(CaseFile.self, id)
    }

    public func decide(_ facts: Versioned<CaseFile>) throws(Rejection) -> Decision {
        if let issued = facts.state.issued {
            guard issued == file else { throw .idTaken }
            return Decision()
        }
        do throws(FieldFault.Reason) {
            try TextRule.label(file.reason, limit: RecordDisclosure.longestReason)
        } catch {
            throw .invalid(FieldFault("reason", error))
        }
        return Decision(CaseFileEvent.issued(file), in: id)
    }
}

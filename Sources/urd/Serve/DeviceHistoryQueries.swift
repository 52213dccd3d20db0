import API
import EventSourcing
import Identity
import ReadModels
import Values

extension ReadModelQueries {
    func history(
        of installation: UUID, certifiedBy attestation: UUID?, in realm: RealmID,
        after position: Int64, limit: Int
    ) async throws(LogFailure) -> [DeviceHistoryEntry] {
        let trail = AuditTrail(database)
        let clientID = RegisterInstallation.clientID(of: installation)
        var selections = [
            AuditTrail.Selection(stream: installation),
            AuditTrail.Selection(stream: AppKey.stream(of: installation)),
            AuditTrail.Selection(actor: "client:\(clientID)"),
            AuditTrail.Selection(signInsOf: clientID),
        ]
        if let attestation { selections.append(AuditTrail.Selection(stream: attestation)) }
        var found: [Int64: DeviceHistoryEntry] = [:]
        for selection in selections {
            let entries = try await asking { () throws(ReadFailure) in
                try await trail.page(of: realm, selection, after: position, limit: limit)
            }
            for entry in entries {
                found[entry.position] = DeviceHistoryEntry(
                    position: entry.position, at: entry.at, type: entry.type,
                    stream: entry.stream, actor: entry.actor, fields: entry.fields)
            }
        }
        return Array(found.values.sorted { $0.position < $1.position }.prefix(limit))
    }
}

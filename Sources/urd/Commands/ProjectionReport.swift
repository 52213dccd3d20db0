import EventStore
import JSON
import Postgres
import ReadModels
import Values

/// Draws how far the building of a projection is.
struct ProjectionReport {
    private let progress: Progress

    init(_ name: String, _ console: Console) {
        progress = Progress("build \(name)", unit: "events", on: console)
    }

    func show(_ step: ProjectionProgress) {
        switch step {
        case .filling(let done, let total): progress.advance(to: done, of: total)
        case .finishing, .catchingUp, .comparing: break
        case .switching: progress.finish()
        }
    }
}

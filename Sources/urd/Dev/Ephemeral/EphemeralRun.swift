import JSON

/// `urd dev --ephemeral`: a run for an app's own tests, which leaves nothing.
struct EphemeralRun: Sendable {
    let environment: Environment
    /// The port to listen on; any that is free where it is nil.
    let port: UInt16?
    let people: [JSON]
    let console: Console
    let asJSON: Bool
    let steps: any DevelopmentSteps

    func run(withHistory: Bool) async throws -> ExitCode {
        let place = try await EphemeralFolder(say: say)
        defer { place.remove() }
        try await fill(place)
        let development = development(
            in: place.folder, port: try port ?? Port.free())
        return try await development.run(
            fresh: false, withHistory: withHistory, stops: Signals.stops())
    }

    /// Puts into the folder what a first start makes.
    private func fill(_ place: EphemeralFolder) async throws {
        let template = DevelopmentTemplate(environment: environment)
        if let template, template.isThere {
            do {
                return try await template.copy(to: place.folder)
            } catch {
                // A start of another build removed it meanwhile, say.
                try place.clear()
            }
        }
        say("Making the database; the next start has it ready")
        let development = development(in: place.folder, port: try Port.free())
        let stopping = Task {
            for await signal in Signals.stops() {
                await development.stopPostgres()
                place.remove()
                Signals.endProcess(by: signal)
            }
        }
        let made: Result<Void, any Error>
        do {
            made = .success(try await development.prepare())
        } catch {
            made = .failure(error)
        }
        // Where a signal ended it, this process goes with that signal and not with the failure.
        stopping.cancel()
        await stopping.value
        try made.get()
        do {
            try await template?.keep(place.folder)
        } catch {
            say("It could not be kept for the next start: \(error)")
        }
    }

    private func development(in folder: DevelopmentFolder, port: UInt16) -> Development {
        var style = Development.Style()
        style.isEphemeral = true
        style.isJSON = asJSON
        style.people = people
        return Development(
            folder: folder, environment: environment, port: port, console: console, steps: steps,
            style: style)
    }

    private func say(_ text: String) {
        if asJSON { console.complain(text) } else { console.write(text) }
    }
}

import EventSourcing
import ReadModels

/// What a port in memory answers, by question.
struct Answers<Port: QuestionPort>: Sendable {
    typealias Answering<Input, Answer> =
        @Sendable (Port, RealmID, Input) async throws -> Answer

    private final class Entry<Input, Answer>: Sendable {
        let answer: Answering<Input, Answer>

        init(_ answer: @escaping Answering<Input, Answer>) { self.answer = answer }
    }

    private var entries: [String: any Sendable] = [:]

    mutating func on<Input, Answer>(
        _ question: Question<Input, Answer>, _ answer: @escaping Answering<Input, Answer>
    ) {
        precondition(entries[question.name] == nil, "two questions are \(question.name)")
        entries[question.name] = Entry(answer)
    }

    func ask<Input, Answer>(
        _ question: Question<Input, Answer>, _ input: Input, in realm: RealmID, _ port: Port
    ) async throws(LogFailure) -> Answer {
        guard let entry = entries[question.name] as? Entry<Input, Answer> else {
            preconditionFailure("nothing answers \(question.name)")
        }
        do {
            return try await entry.answer(port, realm, input)
        } catch let failure as LogFailure {
            throw failure
        } catch {
            preconditionFailure("\(question.name): \(error)")
        }
    }
}

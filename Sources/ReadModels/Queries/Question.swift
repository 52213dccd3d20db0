public import EventSourcing
internal import Postgres
public import Values

/// A question to the read models: what it is asked with, and what its answer is, which is as fresh as the log where nothing
/// else is said.
public struct Question<Input: Sendable, Answer: Sendable>: Sendable {
    /// The name of the question: no two have the same.
    public let name: String
    let answer: @Sendable (ReadModelQueries, RealmID, Input) async throws(LogFailure) -> Answer

    init(
        _ name: String,
        _ answer:
            @escaping @Sendable (ReadModelQueries, RealmID, Input)
            async throws(LogFailure) -> Answer
    ) {
        self.name = name
        self.answer = answer
    }
}

/// Where questions go: `ReadModelQueries`, with any answers behind it.
public protocol QuestionPort: Sendable {
    func ask<Input, Answer>(
        _ question: Question<Input, Answer>, _ input: Input, in realm: RealmID
    ) async throws(LogFailure) -> Answer
}

extension QuestionPort {
    public func ask<Answer>(
        _ question: Question<Void, Answer>, in realm: RealmID
    ) async throws(LogFailure) -> Answer {
        try await ask(question, (), in: realm)
    }
}

extension ReadModelQueries: QuestionPort {
    public func ask<Input, Answer>(
        _ question: Question<Input, Answer>, _ input: Input, in realm: RealmID
    ) async throws(LogFailure) -> Answer {
        try await question.answer(self, realm, input)
    }
}

/// A list is given in the order of its cursor, from behind `after` on, at most `limit` of it.
public typealias PageQuestion<Row: Sendable> = Question<
    (after: UUID?, limit: Int), ListPage<Row>
>

extension RowQuery {
    /// Asks for one row.
    func first<Input>(
        _ parameters: @escaping @Sendable (RealmID, Input) -> Parameters
    ) -> Question<Input, Row?> {
        Question(name) { models, realm, input throws(LogFailure) in
            try await models.rows(self, parameters(realm, input)).first
        }
    }

    /// Asks for all rows.
    func all<Input>(
        _ parameters: @escaping @Sendable (RealmID, Input) -> Parameters
    ) -> Question<Input, [Row]> {
        Question(name) { models, realm, input throws(LogFailure) in
            try await models.rows(self, parameters(realm, input))
        }
    }

    /// Asks for a page.
    func page<Input>(
        _ parameters: @escaping @Sendable (RealmID, Input) -> Parameters
    ) -> Question<Input, ListPage<Row>> {
        Question(name) { models, realm, input throws(LogFailure) in
            try await models.list(self, parameters(realm, input))
        }
    }

    func page() -> PageQuestion<Row> {
        page { Parameters(in: $0, after: $1.after, limit: $1.limit) }
    }
}

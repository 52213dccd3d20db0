internal import HTTP
internal import Identity

/// What a client is told of a rejection that registers and manages itself.
enum OwnClientProblems {
    static func problem(for rejection: RegisterOwnClient.Rejection) -> Problem {
        switch rejection {
        case .closed: Problem(.registrationClosed)
        case .tokenNeeded: Problem(.unauthenticated, "An initial access token is needed here.")
        case .statementNeeded: .statementNeeded
        case .invalidToken: Problem(.invalidToken)
        case .refused(.invalid(let fault)): fault.ownProblem
        // The names are made up here, for this client.
        case .refused(.idTaken), .refused(.clientIDTaken): Problem(.internalError)
        }
    }

    static func problem(for rejection: UpdateOwnClient.Rejection) -> Problem {
        switch rejection {
        case .notFound: Problem(.invalidToken)
        case .statementNeeded: .statementNeeded
        case .invalid(let fault): fault.ownProblem
        }
    }

    static func problem(for rejection: DeleteClient.Rejection) -> Problem {
        switch rejection {
        case .notFound: Problem(.invalidToken)
        }
    }
}

extension FieldFault {
    fileprivate var ownProblem: Problem {
        let sentence = Problem(of: self).detail
        return Problem(
            field == "redirect_uris" ? .invalidRedirectURI : .invalidClientMetadata, sentence)
    }
}

extension Problem {
    fileprivate static var statementNeeded: Problem {
        Problem(.invalidSoftwareStatement, "A software statement is needed here.")
    }
}

internal import Identity

// What the commands about people refuse, as problems.

extension RegisterAccount.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .idTaken: Problem(.accountExists)
        case .mailboxTaken: Problem(.accountExists, field: "email")
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension ChangePerson.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchAccount)
        case .mailboxTaken: Problem(.accountExists, field: "email")
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension ChangeRoles.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchAccount)
        case .invalid(let fault): Problem(of: fault)
        }
    }
}

extension RequeueMail.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .notFound: Problem(.noSuchMail)
        case .notFailed: Problem(.mailNotFailed)
        }
    }
}

extension RecordDisclosure.Rejection: Refusal {
    var problem: Problem {
        switch self {
        case .idTaken: Problem(.internalError)
        }
    }
}

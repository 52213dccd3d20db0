/// Why a command is not decided at all: its realm does not exist, or is disabled.
public enum RealmRejection: Error, Equatable, Sendable {
    case realmNotFound
    case realmDisabled
}

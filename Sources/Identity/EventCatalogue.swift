public import EventSourcing

/// Every shape of every event that the log may hold.
public enum EventCatalogue {
    public static let all: [EventShape] =
        RealmEvent.catalogue + HostEvent.catalogue + AppEvent.catalogue + ClientEvent.catalogue
        + AdminKeyEvent.catalogue + AccountEvent.catalogue + MailboxEvent.catalogue
        + SessionEvent.catalogue + MailEvent.catalogue
        + SigningKeyEvent.catalogue
        + TwoFactorEvent.catalogue
}

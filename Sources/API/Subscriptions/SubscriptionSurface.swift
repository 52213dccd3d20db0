/// How services follow a realm.
struct SubscriptionSurface: Surface {
    let routes =
        FeedRoutes.table + ReplayRoutes.table + FeedSubscriptionRoutes.table
        + WebhookDeliveryRoutes.table
        + WebhookRoutes.table
}

/// How clients of a realm follow it.
struct ServiceFeedSurface: RealmSurface {
    let routes: [Route<RealmContext>]

    /// - Parameter feeds: of this node.
    init(_ feeds: Feeds?) {
        routes = ServiceFeedRoutes.table(feeds)
    }
}

/// How services follow a realm.
struct SubscriptionSurface: Surface {
    let routes =
        FeedRoutes.table + ReplayRoutes.table + FeedSubscriptionRoutes.table
        + WebhookDeliveryRoutes.table
        + WebhookRoutes.table
}

/// How clients of a realm follow it.
struct ServiceFeedSurface: RealmSurface {
    let routes = ServiceFeedRoutes.table
}

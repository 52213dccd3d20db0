/// How services follow a realm.
struct SubscriptionSurface: Surface {
    let routes = FeedRoutes.table + WebhookRoutes.table + WebhookDeliveryRoutes.table
}

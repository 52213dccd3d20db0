/// How services follow a realm.
struct SubscriptionSurface: Surface {
    let routes = FeedRoutes.table + WebhookDeliveryRoutes.table + WebhookRoutes.table
}

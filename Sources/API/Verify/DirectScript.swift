/// What sends the form of an address that the app knows already. Not a second time where a person comes back to the
/// page or loads it again: then they want to change it.
enum DirectScript {
    static let path = "/assets/\(AssetRoutes.fingerprint(text))/direct.js"

    static let asset: Route<RealmContext> = AssetRoutes.asset(
        path, id: "getDirectScript", "What a page needs that sends a code at once.",
        "text/javascript; charset=utf-8", text)

    private static let text = """
        "use strict";
        (() => {
          const [visit] = performance.getEntriesByType("navigation");
          if (!visit || visit.type === "navigate")
            document.getElementById("direct").requestSubmit();
        })();

        """
}

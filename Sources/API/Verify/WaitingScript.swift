/// What has a page go on once its link was opened elsewhere.
enum WaitingScript {
    static let path = "/assets/\(AssetRoutes.fingerprint(text))/waiting.js"

    static let asset: Route<RealmContext> = AssetRoutes.asset(
        path, id: "getWaitingScript", "What a page that waits for a link needs.",
        "text/javascript; charset=utf-8", text)

    private static let text = """
        "use strict";
        (() => {
          const form = document.getElementById("wait");
          const place = new URL(form.action);
          place.pathname = "/app/wait/state";
          const look = async () => {
            try {
              const answer = await fetch(place, {headers: {Accept: "application/json"}});
              if (answer.ok && (await answer.json()).confirmed) return form.requestSubmit();
            } catch (error) {
              // The network is away for a moment.
            }
            setTimeout(look, 2000);
          };
          setTimeout(look, 1000);
        })();

        """
}

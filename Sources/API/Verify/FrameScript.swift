/// What a frame says to the page that shows it, and hears from it. Messages are JSON in a text. It hears its
/// parent alone, at the one origin that its address names and the tenant lists, and speaks to no other.
enum FrameScript {
    static let path = "/assets/\(AssetRoutes.fingerprint(text))/frame.js"

    static let asset: Route<RealmContext> = AssetRoutes.asset(
        path, id: "getFrameScript", "What a page in a tenant's frame needs.",
        "text/javascript; charset=utf-8", text)

    private static let text = """
        "use strict";
        (() => {
          const asked = new URLSearchParams(location.search);
          const origin = asked.get("domain");
          const one = (id) => document.getElementById(id);
          const forms = {
            address: one("frame-address"), code: one("frame-code"), again: one("frame-again")};
          let settings = {}, started = null, sent = null;

          const say = (name, payload) => parent.postMessage(
            JSON.stringify({callbackName: (asked.get("id") || "") + name, payload}), origin);
          const wrong = (text) => {
            one("frame-error").textContent = text;
            one("frame-error").hidden = !text;
          };
          const failed = (text) => {
            wrong(text);
            say("ON_ERROR", text);
          };
          const show = (id) => {
            for (const part of ["frame-address", "frame-code", "frame-wait", "frame-done"])
              one(part).hidden = part !== id;
            forms.again.hidden = id !== "frame-code" && id !== "frame-wait";
            if (forms.again.hidden) one("frame-another").hidden = true;
            const input = one(id).querySelector("input");
            if (input) input.focus();
          };

          const call = async (path, members) => {
            const answer = await fetch(path + location.search, {
              method: "POST", credentials: "omit",
              headers: {"Content-Type": "application/json"},
              body: JSON.stringify({skip_redirect: Boolean(settings.skipRedirectURL), ...members})});
            const told = await answer.json();
            if (!answer.ok && !told.to) throw new Error(told.msg);
            return told;
          };

          const done = (told) => say(
            "ON_SUBMIT_AUTHORIZATION_CODE", {...told, client_json: started.more});
          const restart = () => {
            sent = null;
            forms.code.reset();
            show("frame-address");
          };
          // What was sent since then has a wait of its own.
          const wait = async (to) => {
            try {
              if (to !== sent) return;
              const told = await call("/signup/wait", {to});
              if (to !== sent) return;
              if (told.authorization_code) return done(told);
              setTimeout(wait, 2000, to);
            } catch (error) {
              if (to !== sent) return;
              restart();
              failed(error.message);
            }
          };
          const solved = () => {
            const field = forms.address.querySelector("[name$='-response']");
            return field ? field.value : "";
          };
          // What a captcha gave is good once.
          const renew = () => {
            for (const service of [window.turnstile, window.grecaptcha, window.hcaptcha])
              try { if (service) service.reset(); } catch (error) { continue; }
          };
          const send = async () => {
            try {
              const told = await call("/signup/send", {
                identifier: started.identifier, channel: started.channel, captcha: solved(),
                auth_method: isLink() ? "MAGIC_LINK" : "OTP"});
              one("frame-another").hidden = !sent || Boolean(told.msg);
              sent = told.to;
              forms.code.reset();
              wrong("");
              if (!told.number) {
                show("frame-code");
                if (told.msg) failed(told.msg);
                return;
              }
              one("frame-number").textContent = told.number;
              show("frame-wait");
              setTimeout(wait, 1000, sent);
            } catch (error) {
              failed(error.message);
            } finally {
              renew();
            }
          };
          const isLink = () =>
            (settings.authenticationMethod || asked.get("auth_method")) === "MAGIC_LINK";
          // The page around hears of addresses alone, and in the form in which they are known.
          const begin = async (typed, channel) => {
            started = null;
            try {
              const {identifier} = await call("/signup/begin", {identifier: typed});
              started = {identifier, channel, more: entered()};
              wrong("");
              say("ON_BEGIN", {
                identifier, identifier_type: asked.get("type"), device_type: "BROWSER",
                device_name: navigator.userAgent, client_json: started.more,
                auth_required: true});
            } catch (error) {
              failed(error.message);
            }
          };

          // What the page around wants to know beside the address. It is told to that page alone.
          const fields = [];
          const entered = () => Object.fromEntries(
            fields.map(([name, input]) => [name, input.value]));
          const text = (value) =>
            ["number", "string"].includes(typeof value) ? String(value).slice(0, 255) : "";
          const kinds = ["date", "email", "number", "tel", "text", "time", "url"];
          const ask = (more) => {
            for (const one of Array.isArray(more) ? more.slice(0, 20) : []) {
              if (!one || !text(one.name)) continue;
              const [box, label, input] = ["div", "label", "input"].map(
                (kind) => document.createElement(kind));
              input.id = label.htmlFor = `frame-more-${fields.length}`;
              label.textContent = text(one.label) || text(one.name);
              input.placeholder = text(one.placeholder);
              if (kinds.includes(one.type)) input.type = one.type;
              input.value = text(one.initial_value ?? one.initialValue);
              input.maxLength = 255;
              input.required = !one.optional;
              box.className = "field";
              box.append(label, input);
              fields.push([text(one.name), input]);
              [...forms.address.querySelectorAll(".field")].pop().after(box);
            }
          };
          // Of the ways that the realm has, those that the page around wants: by SMS, where it names none.
          const offer = (channels) => {
            if (asked.get("type") !== "PHONE") return;
            if (!Array.isArray(channels) || !channels.length) {
              if (asked.has("phone_channels[]")) return;
              channels = ["SMS"];
            }
            const wanted = channels.map((name) => String(name).toLowerCase());
            for (const form of [forms.address, forms.again]) {
              const buttons = [...form.querySelectorAll("button[name=channel]")];
              const others = buttons.filter((button) => !wanted.includes(button.value));
              if (others.length < buttons.length) for (const button of others) button.remove();
            }
          };

          const named = new Map(
            [...forms.address.querySelectorAll("button[name=channel]")].map(
              (button) => [button, button.textContent]));
          const nameButtons = () => {
            for (const [button, code] of named)
              button.textContent =
                isLink() ? one("frame-link-" + button.value).textContent : code;
          };
          forms.address.addEventListener("submit", (event) => {
            event.preventDefault();
            const button = event.submitter;
            begin(forms.address.elements.identifier.value, button ? button.value : null);
          });
          forms.code.addEventListener("submit", async (event) => {
            event.preventDefault();
            try {
              done(await call("/signup/check", {to: sent, code: forms.code.elements.code.value}));
              wrong("");
            } catch (error) {
              failed(error.message);
            }
          });
          forms.again.addEventListener("submit", (event) => {
            event.preventDefault();
            wrong("");
            if (!event.submitter || event.submitter.name === "other") return restart();
            started.channel = event.submitter.value;
            send();
          });

          addEventListener("message", (event) => {
            if (event.source !== parent || event.origin !== origin) return;
            let told;
            try { told = JSON.parse(event.data); } catch (error) { return; }
            if (told.action === "CONFIG") {
              settings = told.payload || {};
              if (!fields.length) ask(settings.additionalFields);
              offer(settings.phoneChannels);
              nameButtons();
              const known = settings.skipIdentiferFormWithValue
                || settings.identifierFieldInitialValue || asked.get("input");
              const skips = settings.skipIdentiferForm || asked.get("direct_login") === "true";
              if (known) forms.address.elements.identifier.value = known;
              say("LOADED");
              const complete = fields.every(([, input]) => input.checkValidity());
              if (skips && known && complete) begin(known, null);
            }
            if (told.action === "CONTINUE_SUBMIT" && started) send();
            if (told.action === "ON_ERROR") wrong(String(told.errorMsg || ""));
            if (told.action === "DONE_SUCCESS") show("frame-done");
            if (told.action === "DONE_ERROR") wrong(one("frame-failed").textContent);
          });
          nameButtons();
          say("FIRST_LOAD");
        })();

        """
}

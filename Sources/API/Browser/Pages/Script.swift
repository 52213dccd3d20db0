/// The one script of our pages: passkeys need one, and nothing else does.
enum Script {
    static let text = """
        "use strict";
        (() => {
          const decode = (text) => {
            const plain = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
            return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
          };
          const encode = (bytes) => bytes === null || bytes === undefined ? undefined :
            btoa(String.fromCharCode(...new Uint8Array(bytes)))
              .replace(/\\+/g, "-").replace(/\\//g, "_").replace(/=+$/, "");
          const begin = async (path, token) => {
            const body = token ? new URLSearchParams({form: token}) : undefined;
            const answer = await fetch(path, {method: "POST", body});
            if (!answer.ok) throw new Error("refused");
            return answer.json();
          };
          const credential = (made, response) => JSON.stringify({
            id: made.id, rawId: encode(made.rawId), type: made.type, response,
            clientExtensionResults: made.getClientExtensionResults(),
            authenticatorAttachment: made.authenticatorAttachment || undefined
          });
          const fill = (form, names) => {
            for (const name of Object.keys(names)) form.elements[name].value = names[name];
            form.submit();
          };
          let running = null;
          // A dialogue is open that its person asked for.
          let asked = false;
          let offers = false;

          const login = document.getElementById("passkey");
          const signIn = async (conditional) => {
            if (running) running.abort();
            const abort = running = new AbortController();
            asked = !conditional;
            try {
              const begun = await begin("/login/passkey/begin");
              const options = begun.options;
              options.challenge = decode(options.challenge);
              options.allowCredentials = [];
              const found = await navigator.credentials.get(Object.assign(
                {publicKey: options, signal: abort.signal},
                conditional ? {mediation: "conditional"} : {}));
              const answer = found.response;
              fill(login, {ceremony: begun.ceremonyId, assertion: credential(found, {
                clientDataJSON: encode(answer.clientDataJSON),
                authenticatorData: encode(answer.authenticatorData),
                signature: encode(answer.signature), userHandle: encode(answer.userHandle)})});
              asked = false;
            } catch (error) {
              if (conditional || abort.signal.aborted) return;
              document.getElementById("passkey-error").hidden = false;
              asked = false;
              offer();
            }
          };
          // In the field of the address, by the browser.
          const offer = () => { if (offers && !asked) signIn(true); };
          if (login && window.PublicKeyCredential) {
            document.getElementById("passkey-way").hidden = false;
            document.getElementById("passkey-button")
              .addEventListener("click", () => signIn(false));
            const available = PublicKeyCredential.isConditionalMediationAvailable;
            if (available) available.call(PublicKeyCredential).then((yes) => {
              if (!yes) return;
              offers = true;
              offer();
              // A challenge is good for five minutes.
              setInterval(() => { if (!document.hidden) offer(); }, 240000);
            });
          }

          const enrol = document.getElementById("enrol");
          const create = async () => {
            const known = document.getElementById("enrol-known");
            const failed = document.getElementById("enrol-error");
            known.hidden = failed.hidden = true;
            try {
              const begun = await begin("/account/passkeys/begin", enrol.elements.form.value);
              const options = begun.options;
              options.challenge = decode(options.challenge);
              options.user.id = decode(options.user.id);
              for (const one of options.excludeCredentials) one.id = decode(one.id);
              const made = await navigator.credentials.create({publicKey: options});
              const answer = made.response;
              fill(enrol, {ceremony: begun.ceremonyId, attestation: credential(made, {
                clientDataJSON: encode(answer.clientDataJSON),
                attestationObject: encode(answer.attestationObject),
                transports: answer.getTransports ? answer.getTransports() : []})});
            } catch (error) {
              // What was done before is no answer to this.
              for (const note of document.querySelectorAll(".note.good")) note.hidden = true;
              (error.name === "InvalidStateError" ? known : failed).hidden = false;
            }
          };
          if (enrol && window.PublicKeyCredential) {
            document.getElementById("enrol-none").hidden = true;
            document.getElementById("enrol-way").hidden = false;
            document.getElementById("enrol-button").addEventListener("click", create);
          }
        })();

        """
}

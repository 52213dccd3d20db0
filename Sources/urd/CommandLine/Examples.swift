/// Examples of every command, as its help shows them. Words in capitals stand for ids that a list shows.
/// All of them are run against `urd dev` by a test.
enum Examples {
    static let all: [String: [String]] = [
        core, realms, clients, people, signIn, audit, operate, flagship,
    ].reduce(into: [:]) { $0.merge($1) { first, _ in first } }

    private static let core = [
        "dev": ["urd dev --port 8090 --data /tmp/urd-data"],
        "serve": ["urd serve --listen-port 8090 --private-port 8091"],
        "migrate": ["urd migrate --check", "urd migrate"],
        "doctor": ["urd doctor", "urd doctor --security --realm demo"],
        "config print": ["urd config print"],
        "completion": ["urd completion bash >urd.bash"],
    ]

    private static let realms = [
        "realm create": ["urd realm create --realm acme --display-name \"Acme Ltd\""],
        "realm list": ["urd realm list"],
        "realm show": ["urd realm show demo"],
        "realm settings": ["urd realm settings demo"],
        "realm set": [
            "urd realm set demo --otp-lifetime 300",
            "urd realm set demo --unset otp_lifetime",
        ],
        "realm disable": ["urd realm disable acme"],
        "realm enable": ["urd realm enable acme"],
        "host assign": ["urd host assign --realm acme --host login.acme.example"],
        "host list": ["urd host list --realm acme"],
        "host release": ["urd host release login.acme.example --realm acme"],
        "app create": ["urd app create --slug shop --name \"Web shop\""],
        "app list": ["urd app list"],
        "app show": ["urd app show APP"],
        "app update": ["urd app update APP --settings '{\"registration\":\"off\"}'"],
        "app delete": ["urd app delete APP"],
    ]

    private static let clients = [
        "client register": [
            "urd client register --client-id shop --client-name \"Web shop\" \\\n"
                + "      --redirect-uris https://shop.example.org/signed-in",
            "urd client register --client-id reports --grant-types client_credentials",
        ],
        "client list": ["urd client list", "urd client list --columns client_id,redirect_uris"],
        "client show": ["urd client show shop"],
        "client update": [
            "urd client update shop --redirect-uris https://shop.example.org/back"
        ],
        "client change": ["urd client change shop --consent none"],
        "client rotate-secret": ["urd client rotate-secret shop"],
        "client disable": ["urd client disable shop"],
        "client enable": ["urd client enable shop"],
        "client delete": ["urd client delete shop --dry-run", "urd client delete shop"],
        "registration-token create": ["urd registration-token create --label Partners --uses 5"],
        "registration-token list": ["urd registration-token list"],
        "registration-token revoke": ["urd registration-token revoke TOKEN"],
        "provider set": [
            "urd provider set corp --name \"Acme account\" --issuer https://login.acme.example \\\n"
                + "      --client-id urd"
        ],
        "provider list": ["urd provider list"],
        "provider link": ["urd provider link corp ann@example.org --subject 248289761001"],
        "provider unlink": ["urd provider unlink corp ann@example.org"],
        "provider code": ["urd provider code corp --access-token SlAV32hkKG --realm flagship"],
        "provider delegate": [
            "urd provider delegate corp --access-token SlAV32hkKG --realm flagship"
        ],
        "provider remove": ["urd provider remove corp"],
    ]

    private static let people = [
        "account register": ["urd account register --email ann@example.org --first-name Ann"],
        "account list": ["urd account list", "urd account list --open --all --csv"],
        "account show": ["urd account show ann@example.org --open"],
        "account change": ["urd account change ann@example.org --last-name Lee"],
        "account disable": ["urd account disable ann@example.org"],
        "account enable": ["urd account enable ann@example.org"],
        "account log-out": ["urd account log-out ann@example.org"],
        "account delete": ["urd account delete ann@example.org"],
        "account cancel-deletion": ["urd account cancel-deletion ann@example.org"],
        "account erase": [
            "urd account erase ann@example.org --dry-run", "urd account erase ann@example.org",
        ],
        "account sessions": ["urd account sessions ann@example.org"],
        "account end-session": ["urd account end-session ann@example.org SESSION"],
        "account reset-two-factor": ["urd account reset-two-factor ann@example.org"],
        "account roles": ["urd account roles ann@example.org"],
        "account set-roles": [
            "urd account set-roles ann@example.org --roles '{\"https://api.example.org\":[\"editor\"]}'"
        ],
        "subject erase": ["urd subject erase SUBJECT"],
    ]

    private static let signIn = [
        "history list": ["urd history list --since yesterday --outcome signed_in"],
        "history user": ["urd history user ann@example.org --since 7d --open"],
        "history client": ["urd history client demo-native --since \"2 hours ago\""],
        "history failures": ["urd history failures --since 24h --all --csv"],
        "mail list": ["urd mail list --failed"],
        "mail resend": ["urd mail resend MAIL"],
        "invite create": ["urd invite create --count 2 --expires-in-days 7"],
        "invite list": ["urd invite list"],
        "invite revoke": ["urd invite revoke INVITE"],
    ]

    private static let audit = [
        "audit list": [
            "urd audit list --since yesterday --type account",
            "urd audit list --actor operator:root --all --csv",
        ],
        "feed": [
            "urd feed --from start --limit 5 >events.ndjson",
            "urd feed --from start --type 'client.*' --limit 1 --cursor-file cursor \\\n"
                + "      --exec 'cat >>clients.ndjson'",
        ],
        "events tail": [
            "urd events tail --type client.registered --limit 5", "urd events tail --follow --json",
        ],
        "events show": ["urd events show 1"],
        "events list": [
            "urd events list --account ann@example.org --all",
            "urd events list --client shop --json",
        ],
        "events types": ["urd events types", "urd events types session --json"],
        "events describe": ["urd events describe session.ended"],
        "verify": ["urd verify --realm demo"],
        "proof": ["urd proof 1 --realm demo"],
        "log checkpoint": ["urd log checkpoint --realm demo"],
        "log consistency": ["urd log consistency SIZE --realm demo"],
        "log key": ["urd log key --realm demo"],
        "log export": ["urd log export --realm demo >demo.log"],
        "log accept": ["urd log accept --realm demo"],
    ]

    private static let operate = [
        "admin key create": [
            "urd admin key create --name deployment --realms demo",
            "urd admin key create --name siem --realms demo --may events.read,audit.read",
        ],
        "admin key list": ["urd admin key list"],
        "admin key show": ["urd admin key show KEY"],
        "admin key revoke": ["urd admin key revoke KEY"],
        "signing-key list": ["urd signing-key list"],
        "signing-key rotate": ["urd signing-key rotate --algorithm ES256"],
        "keys rotate-master": [
            "urd keys rotate-master --old old.key --master-key-file new.key"
        ],
        "keys rotate-derive": ["urd keys rotate-derive --realm demo"],
        "keys retire-derive": ["urd keys retire-derive --realm demo"],
        "keys rotate-realm": ["urd keys rotate-realm --realm demo"],
        "projections status": ["urd projections status"],
        "projections rebuild": ["urd projections rebuild clients"],
        "projections verify": ["urd projections verify clients"],
        "projections rollback": ["urd projections rollback clients"],
    ]

    private static let flagship = [
        "owner appoint": ["urd owner appoint camille@example.org --realm home"],
        "owner show": ["urd owner show --realm flagship"],
        "owner vouch": ["urd owner vouch --realm flagship"],
        "integrity-keys set": [
            "urd integrity-keys set --realm flagship --jwks '{\"keys\":[]}' \\\n"
                + "      --decryption-keys AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        ],
        "web-app register": [
            "urd web-app register --realm flagship --kind app --slug drive --name Drive"
        ],
        "web-app list": ["urd web-app list --realm flagship"],
        "web-app show": ["urd web-app show WEBAPP --realm flagship"],
        "web-app update": ["urd web-app update WEBAPP --realm flagship --name Files"],
        "web-app remove": ["urd web-app remove WEBAPP --realm flagship"],
        "device list": ["urd device list --realm flagship"],
        "device history": ["urd device history INSTALLATION --realm flagship"],
        "device revoke-certification": [
            "urd device revoke-certification INSTALLATION --realm flagship"
        ],
        "subscription create": [
            "urd subscription create --realm demo --name Search --types 'account.*' --from start"
        ],
        "subscription list": ["urd subscription list --realm demo"],
        "subscription show": ["urd subscription show SUBSCRIPTION --realm demo"],
        "subscription update": [
            "urd subscription update SUBSCRIPTION --realm demo --types 'account.*'"
        ],
        "subscription delete": ["urd subscription delete SUBSCRIPTION --realm demo"],
        "subscription ack": ["urd subscription ack SUBSCRIPTION --realm demo --cursor 1:42"],
        "webhook create": [
            "urd webhook create --realm demo --name Billing \\\n"
                + "    --url https://billing.example.org/urd --types 'account.*'"
        ],
        "webhook list": ["urd webhook list --realm demo"],
        "webhook show": ["urd webhook show WEBHOOK --realm demo"],
        "webhook update": ["urd webhook update WEBHOOK --realm demo --order strict"],
        "webhook delete": ["urd webhook delete WEBHOOK --realm demo"],
        "webhook pause": ["urd webhook pause WEBHOOK --realm demo"],
        "webhook resume": ["urd webhook resume WEBHOOK --realm demo --from stop"],
        "webhook rotate-secret": ["urd webhook rotate-secret WEBHOOK --realm demo"],
        "webhook deliveries": ["urd webhook deliveries WEBHOOK --realm demo --state given_up"],
        "webhook attempts": ["urd webhook attempts WEBHOOK --realm demo"],
        "webhook resend": ["urd webhook resend WEBHOOK 1 --realm demo"],
        "webhook replay": ["urd webhook replay WEBHOOK --realm demo --from 1"],
        "webhook redeliver": ["urd webhook redeliver WEBHOOK --realm demo"],
        "webhook test": ["urd webhook test WEBHOOK --realm demo"],
        "push-provider show": ["urd push-provider show --realm flagship"],
        "push-provider set fcm": [
            "urd push-provider set fcm --realm flagship --service-account \"$(cat account.json)\""
        ],
        "push-provider set apns": [
            "urd push-provider set apns --realm flagship --team-id TEAM000001 \\\n"
                + "      --key-id KEY0000001 --topic io.example.app --private-key=\"$(cat apns.p8)\""
        ],
        "push-provider remove fcm": ["urd push-provider remove fcm --realm flagship"],
        "push-provider remove apns": ["urd push-provider remove apns --realm flagship"],
        "notification list": ["urd notification list --realm flagship --failed"],
        "notification resend": ["urd notification resend NOTIFICATION --realm flagship"],
    ]
}

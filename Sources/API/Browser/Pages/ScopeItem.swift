internal import HTML

/// A scope in words, as an item of the list of what an app may do.
enum ScopeItem {
    static func item(_ scope: String, isRemembered: Bool, _ say: LocalizedText) -> HTML {
        HTML.element(.li) {
            switch scope {
            case "openid":
                say("recognise you when you come back", "Sie wiedererkennen, wenn Sie wiederkommen")
            case "email": say("see your e-mail address", "Ihre E-Mail-Adresse sehen")
            case "phone": say("see your phone number", "Ihre Telefonnummer sehen")
            case "profile": say("see your name", "Ihren Namen sehen")
            case "roles": say("see which roles you have", "sehen, welche Rollen Sie haben")
            case "permissions":
                say("see what you are permitted to do", "sehen, was Ihnen erlaubt ist")
            case "offline_access":
                say(
                    "keep this access while you are away",
                    "diesen Zugriff behalten, wenn Sie nicht da sind")
            default:
                say("use ", "nutzen: ")
                HTML.element(.code, .class("break")) { scope }
            }
            if isRemembered { AskingParts.allowedBefore(say) }
        }
    }
}

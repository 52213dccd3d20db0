extension [AuthenticationFactor] {
    /// A passkey is what somebody has and, since it is asked to verify its user, what he knows or is.
    public var areStrong: Bool { contains(.passkey) || Set(self).count > 1 }
}

extension GrantDesk {
    /// Whether people who sign in here have shown too little. Who did not sign in himself is not asked:
    /// a client for itself, or one to which somebody else vouches for him.
    func wantsMore(_ factors: [AuthenticationFactor], by method: GrantType?) -> Bool {
        guard settings[SettingCatalogue.signInLevel] == .multi else { return false }
        switch method {
        case nil, .nativeOTP, .nativeMagicLink, .nativePasskey, .authorizationCode, .deviceCode:
            return !factors.areStrong
        case .refreshToken, .clientCredentials, .jwtBearer, .tokenExchange, .flagship:
            return false
        }
    }
}

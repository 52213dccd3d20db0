extension [AuthenticationFactor] {
    /// A passkey is a thing that a person has and, since it is asked to verify its user, also a
    /// secret they know or a trait they have.
    public var areStrong: Bool { contains(.passkey) || Set(self).count > 1 }
}

extension GrantDesk {
    /// Whether people who sign in here have shown too few factors. The rule skips requests without
    /// a sign-in of the person: a client for itself, or one to which an issuer vouches for the
    /// person.
    func wantsMore(_ factors: [AuthenticationFactor], by method: GrantType?) -> Bool {
        guard settings[SettingCatalogue.signInLevel] == .multi else { return false }
        switch method {
        case nil, .nativeOTP, .nativeMagicLink, .nativePasskey, .authorizationCode, .deviceCode,
            .password:
            return !factors.areStrong
        case .refreshToken, .clientCredentials, .jwtBearer, .tokenExchange, .flagship:
            return false
        }
    }
}

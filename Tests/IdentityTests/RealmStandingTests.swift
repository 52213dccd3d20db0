import EventSourcing
import Identity
import Testing

/// The commands that are decided only where the realm exists and is open.
private let inOpenRealms: [any Command.Type] = [
    AdmitInstallation.self, AppointOwner.self, ApproveDevice.self, BeginConnection.self,
    CertifyByMailedCode.self, CertifyInstallation.self, ChangeClient.self, ChangeHint.self,
    ChangeMailedCodes.self, ChangePerson.self, ChangeTwoFactor<RemoveTOTP>.self,
    ConfirmOwnerMove.self, ConfirmTOTP.self, CreateInvites.self, CreateFeedSubscription.self,
    CreateWebhook.self, DeleteClient.self, DeletePasskey.self, DenyDevice.self,
    EndUpstreamSession.self, EnrollPasskey.self, EnrollTOTP.self, FinishConnection.self,
    GiveConsent.self, HandOverSession.self, ImportAccounts.self, InviteOwner.self,
    IssueDelegatedCode.self,
    IssueSessionCode.self, LinkIdentity.self, LogOutByProvider.self, MarkSynchronized.self,
    MoveMailbox.self, OnboardOwner.self, OpenWebApp.self, RedeemGrant<RefreshGrant>.self,
    RedeemInstallationCode.self, RefreshInstallation.self, RegisterAccount.self,
    RegisterClient.self, RegisterOwnClient.self, RemovePassphrase.self, RemoveTOTP.self,
    RenewRecoveryCodes.self, RequestCertification.self, RequestDevice.self, RequestHint.self,
    RequestMagicLink.self, RequestMailboxMove.self, RequestMailedCode.self,
    RequestNotification.self, RequestOTP.self, RequestOwnerLink.self, RequestOwnerMove.self,
    RequestPassphraseReset.self, ResetPassphrase.self, ResetTwoFactor.self, RemoveAccess.self,
    RestorePassphrase.self, RotateSecurityStamp.self, SetPassphrase.self,
    SignInBrowser<PassphraseProof>.self, SignInOwner.self, SignInOwnerByLink.self,
    SignInOwnerByProvider.self, UnlinkIdentity.self, UpdateClient.self, UpdateOwnClient.self,
    UseAppKey.self, VouchForMailbox.self, CreateSignalStream.self, ConfirmOTP.self,
    SetTokenClaims.self, RegisterNamedPerson.self, AnswerApproval.self, EnrollDeviceKey.self,
    GiveApproval.self, RemoveTenantMethod.self, RequestApproval.self, ResetPIN.self, SetPIN.self,
    ChangePassphrase.self, DescribeService.self, IssueFederatedAssertion.self,
    SetServiceStanding.self,
]

/// The same of changes.
private let changesInOpenRealms: [any Command.Type] = [
    command(AccountChange.cancelDeletion), command(AccountChange.disable),
    command(AccountChange.enable),
    command(AccountChange.giveRoles), command(AccountChange.keep),
    command(AccountChange.scheduleDeletion), command(AppChange.create), command(AppChange.delete),
    command(AppChange.update), command(CaptchaChange.setSecret), command(ClientChange.disable),
    command(ClientChange.enable), command(ClientChange.rotateSecret),
    command(FindingRuleChange.set), command(AppliedConfigurationChange.record),
    command(InstallationChange.register), command(InstallationChange.revokeCertification),
    command(InstallationChange.update), command(IntegrityKeysChange.set),
    command(InviteChange.revoke),
    command(MessageGatewayChange.remove), command(MessageGatewayChange.set),
    command(OwnerChange.cancelMove), command(OwnerChange.signTerms), command(PasskeyChange.rename),
    command(ProviderChange.configure), command(ProviderChange.remove),
    command(ProviderChange.useDelegatedCode), command(PushProviderChange.remove),
    command(PushProviderChange.set), command(RegistrationTokenChange.create),
    command(RegistrationTokenChange.revoke), command(SignalStreamChange.change),
    command(SignalStreamChange.delete), command(SignalStreamChange.replay),
    command(SignalStreamChange.setStatus), command(SignalStreamChange.setSubject),
    command(SigningKeyChange.addFirst), command(SigningKeyChange.rotate),
    command(SubscriptionChange.change), command(SubscriptionChange.delete),
    command(SubscriptionChange.disable), command(SubscriptionChange.giveUp),
    command(SubscriptionChange.halt), command(SubscriptionChange.pause),
    command(SubscriptionChange.recordTest), command(SubscriptionChange.replay),
    command(SubscriptionChange.resume), command(SubscriptionChange.rotateSecret),
    command(SubscriptionChange.warn), command(WebAppChange.register), command(WebAppChange.remove),
    command(WebAppChange.update),
]

/// The others: they end, erase or record something also in a disabled realm, are about the realm
/// itself, or are of the system realm.
private let inAllRealms: [any Command.Type] = [
    BeginMessage.self, CloseFinding.self, EscalateFinding.self, RaiseFinding.self,
    DeleteAccount.self, DetachSession.self, DropDeviceToken.self, EndBrowserSession.self,
    EndLapsedSession.self, EndSession.self, EraseSubject.self, LeaveSessions.self,
    RecordDeliveries.self, RecordNotification.self, RecordRefusedKey.self,
    RecordRefusedRefresh.self, ReleasePasskey.self, UseAssertion.self, UseProof.self,
]

/// The same of changes.
private let changesInAllRealms: [any Command.Type] = [
    command(AccountChange.recordErasure), command(AdminKeyChange.create),
    command(AdminKeyChange.revoke),
    command(ClientChange.recordRefusal), command(ConsentChange.withdraw),
    command(DisclosureChange.issueCaseFile), command(DisclosureChange.record),
    command(DisclosureChange.recordStreamed), command(HostChange.assign),
    command(HostChange.release),
    command(InstallationChange.forget), command(LogoutNoticeChange.record),
    command(MailChange.recordReceipt), command(MailChange.requeue),
    command(NotificationChange.requeue),
    command(PushedRequestChange.use), command(RealmChange.acceptLoss), command(RealmChange.create),
    command(RealmChange.disable), command(RealmChange.enable), command(RealmChange.setSettings),
]

/// The type of command that a change is.
private func command<each Input, Facts: StreamFacts, Rejection: Error>(
    _ change: (repeat each Input) -> Change<Facts, Rejection>
) -> any Command.Type {
    Change<Facts, Rejection>.self
}

@Suite struct `The standing of a realm` {
    private func isRequired<C: Command>(_ command: C.Type) -> Bool {
        C.Facts.self is any RealmFacts.Type
    }

    @Test func `a command of an open realm has facts that hold the realm`() {
        for command in inOpenRealms + changesInOpenRealms {
            let isRequired = isRequired(command)
            #expect(isRequired, "\(command)")
        }
    }

    @Test func `a command of every realm has facts that require no open realm`() {
        for command in inAllRealms + changesInAllRealms {
            let isRequired = isRequired(command)
            #expect(!isRequired, "\(command)")
        }
    }
}

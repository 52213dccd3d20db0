import EventSourcing
import Identity
import Testing

/// The commands that are decided only where the realm exists and is open.
private let inOpenRealms: [any Command.Type] = [
    AddFirstSigningKey.self, AdmitInstallation.self, AppointOwner.self, ApproveDevice.self,
    BeginConnection.self, CancelDeletion.self, CancelOwnerMove.self, CertifyByMailedCode.self,
    CertifyInstallation.self, ChangeClient.self, ChangeHint.self, ChangeMailedCodes.self,
    ChangePerson.self, ChangeRoles.self, ChangeSubscription.self,
    ChangeTwoFactor<RemoveTOTP>.self, ConfigureProvider.self,
    ConfirmOwnerMove.self, ConfirmTOTP.self, CreateApp.self, CreateInvites.self,
    CreateFeedSubscription.self, CreateRegistrationToken.self, CreateWebhook.self, DeleteApp.self,
    DeleteClient.self,
    DeletePasskey.self,
    DeleteSubscription.self, DisableSubscription.self, GiveUpDelivery.self,
    PauseSubscription.self, ReplaySubscription.self, ResumeSubscription.self,
    RotateSubscriptionSecret.self, HaltSubscription.self, WarnOfSubscription.self,
    RecordSubscriptionTest.self,
    DenyDevice.self, DisableAccount.self, DisableClient.self, EnableAccount.self,
    EnableClient.self, EndUpstreamSession.self, EnrollPasskey.self, EnrollTOTP.self,
    FinishConnection.self, GiveConsent.self, HandOverSession.self, InviteOwner.self,
    IssueDelegatedCode.self, IssueSessionCode.self, KeepAccount.self, LinkIdentity.self,
    LogOutByProvider.self, MarkSynchronized.self, MoveMailbox.self, OnboardOwner.self,
    OpenWebApp.self, RedeemGrant<RefreshGrant>.self, RedeemInstallationCode.self,
    RefreshInstallation.self, RegisterAccount.self, RegisterClient.self,
    RegisterInstallation.self, RegisterOwnClient.self, RegisterWebApp.self, RemovePassphrase.self,
    RemoveMessageGateway.self, RemoveProvider.self, RemovePushProvider.self, RemoveTOTP.self,
    RemoveWebApp.self,
    RenamePasskey.self, RenewRecoveryCodes.self, RequestCertification.self, RequestDevice.self,
    RequestHint.self, RequestMagicLink.self, RequestMailboxMove.self, RequestMailedCode.self,
    RequestNotification.self, RequestOTP.self, RequestOwnerLink.self, RequestOwnerMove.self,
    RequestPassphraseReset.self, ResetPassphrase.self, ResetTwoFactor.self,
    RemoveAccess.self, RestorePassphrase.self, RevokeCertification.self, RevokeInvite.self,
    RevokeRegistrationToken.self, RotateClientSecret.self, RotateSecurityStamp.self,
    RotateSigningKey.self, ScheduleDeletion.self, SetIntegrityKeys.self, SetPassphrase.self,
    SetMessageGateway.self, SetPushProvider.self, SignInBrowser<PassphraseProof>.self,
    SignInOwner.self,
    SignInOwnerByLink.self,
    SignInOwnerByProvider.self, SignTerms.self, UnlinkIdentity.self, UpdateApp.self,
    UpdateClient.self, UpdateInstallation.self, UpdateOwnClient.self, UpdateWebApp.self,
    UseAppKey.self, UseDelegatedCode.self, VouchForMailbox.self, ChangeSignalStream.self,
    CreateSignalStream.self, DeleteSignalStream.self, ReplaySignals.self,
    SetSignalStatus.self, SetSignalSubject.self, ConfirmOTP.self, SetTokenClaims.self,
    RegisterNamedPerson.self,
    AnswerApproval.self, EnrollDeviceKey.self, GiveApproval.self, RemoveTenantMethod.self,
    RequestApproval.self, ResetPIN.self, SetPIN.self,
    SetCaptchaSecret.self,
    ChangePassphrase.self, DescribeService.self,
    IssueFederatedAssertion.self,
    SetServiceStanding.self, SetFindingRule.self,
]

/// The others: they end, erase or record something also in a disabled realm, are about the realm
/// itself, or are of the system realm.
private let inAllRealms: [any Command.Type] = [
    AcceptLoss.self, AssignHost.self, BeginMessage.self, CloseFinding.self,
    EscalateFinding.self, RaiseFinding.self, CreateAdminKey.self, CreateRealm.self,
    DeleteAccount.self, DetachSession.self,
    DisableRealm.self, DropDeviceToken.self, EnableRealm.self, EndBrowserSession.self,
    EndLapsedSession.self, EndSession.self, EraseSubject.self, ForgetInstallation.self,
    IssueCaseFile.self, LeaveSessions.self,
    RecordDeliveries.self, RecordDisclosure.self, RecordErasure.self, RecordLogoutNotice.self,
    RecordNotification.self, RecordReceipt.self, RecordStreamedData.self, RecordRefusedClient.self,
    RecordRefusedKey.self,
    RecordRefusedRefresh.self, ReleaseHost.self, ReleasePasskey.self, RequeueMail.self,
    RequeueNotification.self, RevokeAdminKey.self, SetRealmSettings.self, UseAssertion.self,
    UseProof.self, UsePushedRequest.self, WithdrawConsent.self,
]

@Suite struct `The standing of a realm` {
    private func isRequired<C: Command>(_ command: C.Type) -> Bool {
        C.Facts.self is any RealmFacts.Type
    }

    @Test(arguments: inOpenRealms.indices)
    func `a command of an open realm has facts that hold the realm`(_ index: Int) {
        let command = inOpenRealms[index]
        let isRequired = isRequired(command)
        #expect(isRequired, "\(command)")
    }

    @Test(arguments: inAllRealms.indices)
    func `a command of every realm has facts that require no open realm`(_ index: Int) {
        let command = inAllRealms[index]
        let isRequired = isRequired(command)
        #expect(!isRequired, "\(command)")
    }
}

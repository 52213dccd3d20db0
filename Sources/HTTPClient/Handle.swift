internal import CCurl
internal import Glibc

/// A handle of libcurl: one transfer at a time, on one thread. It keeps connections and resolved
/// names from one transfer to the next.
///
/// Manual: https://curl.se/libcurl/c/libcurl-easy.html
@safe final class Handle {
    private let handle: UnsafeMutableRawPointer
    /// Lists that libcurl reads until the transfer has ended.
    private var lists: [UnsafeMutablePointer<curl_slist>] = unsafe []
    private let errorText: UnsafeMutablePointer<CChar>
    /// The first option that libcurl did not take; nothing is sent without all of them.
    private var refusedOption: CURLcode = CURLE_OK

    init?() {
        guard let made = unsafe curl_easy_init() else { return nil }
        unsafe handle = made
        unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        unsafe curl_easy_cleanup(handle)
        unsafe errorText.deallocate()
    }

    func set(_ option: CURLoption, _ value: Int) {
        unsafe note(shim_set_number(handle, option, value))
    }

    func set(_ option: CURLoption, _ value: Bool) {
        unsafe note(shim_set_number(handle, option, value ? 1 : 0))
    }

    func set(_ option: CURLoption, size value: Int) {
        unsafe note(shim_set_size(handle, option, curl_off_t(value)))
    }

    /// libcurl copies the text.
    func set(_ option: CURLoption, _ value: String) {
        guard !value.utf8.contains(0) else { return note(CURLE_BAD_FUNCTION_ARGUMENT) }
        unsafe note(shim_set_text(handle, option, value))
    }

    /// For secrets: our copy is overwritten after libcurl has taken its own.
    func set(_ option: CURLoption, secret: [UInt8]) {
        guard !secret.contains(0) else { return note(CURLE_BAD_FUNCTION_ARGUMENT) }
        let count = secret.count + 1
        let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: count)
        unsafe copy.initialize(repeating: 0)
        for (index, byte) in secret.enumerated() {
            unsafe copy[index] = CChar(bitPattern: byte)
        }
        if let text = copy.baseAddress {
            unsafe note(shim_set_text(handle, option, text))
            unsafe explicit_bzero(text, count)
        }
        unsafe copy.deallocate()
    }

    /// The body of a request; libcurl copies it, so that it can send it again over a new connection
    /// when the one that it kept turns out to be closed.
    func set(body: [UInt8]) {
        set(CURLOPT_POST, true)
        set(CURLOPT_POSTFIELDSIZE_LARGE, size: body.count)
        // One byte more, so that there is an address for an empty body too.
        unsafe (body + [0]).withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            let text = unsafe start.assumingMemoryBound(to: CChar.self)
            unsafe note(shim_set_text(handle, CURLOPT_COPYPOSTFIELDS, text))
        }
    }

    func set(_ option: CURLoption, list: [String]) {
        var head: UnsafeMutablePointer<curl_slist>?
        for entry in list {
            guard !entry.utf8.contains(0), let longer = unsafe curl_slist_append(head, entry)
            else {
                unsafe curl_slist_free_all(head)
                return note(CURLE_OUT_OF_MEMORY)
            }
            unsafe head = longer
        }
        guard let head = unsafe head else { return }
        unsafe lists.append(head)
        unsafe note(shim_set_list(handle, option, head))
    }

    /// Makes the transfer that the options describe, then forgets them.
    func perform(_ transfer: Transfer) -> Outcome {
        let context = unsafe Unmanaged.passUnretained(transfer).toOpaque()
        var callbacks = unsafe shim_callbacks(
            context: context, body: receiveBody, header: receiveHeader, upload: readUpload,
            progress: reportProgress, socket: openSocket)
        unsafe shim_set_callbacks(handle, &callbacks)
        unsafe errorText[0] = 0
        unsafe note(shim_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText))
        let code = refusedOption == CURLE_OK ? unsafe curl_easy_perform(handle) : refusedOption
        let outcome = Outcome(
            code: code, isRefusedOption: refusedOption != CURLE_OK,
            status: unsafe shim_get_number(handle, CURLINFO_RESPONSE_CODE), detail: detail(of: code)
        )
        withExtendedLifetime(transfer) {}
        reset()
        return outcome
    }

    private func note(_ code: CURLcode) {
        if refusedOption == CURLE_OK { refusedOption = code }
    }

    private func detail(of code: CURLcode) -> String {
        if unsafe errorText[0] != 0 { return unsafe String(cString: errorText) }
        guard let text = unsafe curl_easy_strerror(code) else { return "" }
        return unsafe String(cString: text)
    }

    private func reset() {
        unsafe curl_easy_reset(handle)
        while let list = unsafe lists.popLast() { unsafe curl_slist_free_all(list) }
        refusedOption = CURLE_OK
    }
}

/// What became of a transfer, in libcurl's terms.
struct Outcome {
    let code: CURLcode
    /// Nothing was sent: this libcurl does not know an option, or the value is none.
    let isRefusedOption: Bool
    /// The last status of HTTP or reply code of SMTP; 0 when there was none.
    let status: Int
    let detail: String
}

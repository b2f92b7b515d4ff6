internal import CFreshetCurl
internal import Glibc

/// An easy handle of libcurl with the buffer of its error text; accessed only by the curl thread.
///
/// A handle serves one transfer. Before version 8.1 libcurl keeps a pointer into the freed header of a handle's earlier
/// transfer, and follows it if the next header begins with a folded line: <https://github.com/curl/curl/issues/11101>.
/// Connections belong to the multi handle, so they are reused nevertheless.
final class EasyHandle {
    let handle: UnsafeMutableRawPointer
    /// libcurl writes here while a transfer runs, so it must stay in place as long as the handle.
    private let errorText: UnsafeMutablePointer<CChar>

    /// `nil` when memory runs out.
    init?() {
        guard let handle = curl_easy_init() else { return nil }
        self.handle = handle
        errorText = .allocate(capacity: Int(freshet_error_size))
        errorText.initialize(repeating: 0, count: Int(freshet_error_size))
        _ = freshet_setopt_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    }

    deinit {
        // The handle first: it knows the error text's address.
        curl_easy_cleanup(handle)
        errorText.deallocate()
    }

    /// The status of the last response.
    var responseCode: Int {
        var code = 0
        _ = freshet_getinfo_long(handle, CURLINFO_RESPONSE_CODE, &code)
        return code
    }

    /// Whether the last response came over HTTP/2 or later.
    var isHTTP2OrLater: Bool {
        var version = 0
        _ = freshet_getinfo_long(handle, CURLINFO_HTTP_VERSION, &version)
        return version >= Int(CURL_HTTP_VERSION_2_0)
    }

    /// Returns libcurl's description of an error: the text of this transfer, or else of the code.
    func errorText(for code: CURLcode) -> String {
        let text = String(cString: errorText)
        return text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
    }

    func set(_ option: CURLoption, _ value: Int) throws(TransportError) {
        try check(freshet_setopt_long(handle, option, value))
    }

    func set(_ option: CURLoption, offset value: Int) throws(TransportError) {
        try check(freshet_setopt_offset(handle, option, curl_off_t(value)))
    }

    /// libcurl copies the text.
    func set(_ option: CURLoption, _ value: String) throws(TransportError) {
        try check(value.withCString { freshet_setopt_text(handle, option, $0) })
    }

    func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) throws(TransportError) {
        try check(freshet_setopt_pointer(handle, option, pointer))
    }

    func set(_ option: CURLoption, receive function: @escaping freshet_receive) throws(TransportError) {
        try check(freshet_setopt_receive(handle, option, function))
    }

    func check(_ code: CURLcode) throws(TransportError) {
        guard code == CURLE_OK else { throw TransportError(code, text: String(cString: curl_easy_strerror(code)), limit: 0) }
    }
}

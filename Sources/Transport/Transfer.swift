internal import CFreshetCurl
internal import HTTPTypes

/// One request in progress, from ``CurlLoop/begin(_:)`` to its completion; accessed only by the curl thread.
///
/// libcurl's callbacks get it as an unretained pointer. That pointer is valid whenever they run: the loop's table of
/// transfers holds the object from before the handle is added to the multi handle until after it is removed from it.
/// libcurl calls back only from within `curl_multi_` functions, and only for handles that are in the multi handle.
final class Transfer {
    typealias Completion = @Sendable (Result<HTTPReply, TransportError>) -> Void

    /// Far above the needs of any server, so that a hostile one cannot fill the memory with fields.
    static let maximumHeaderSize = 256 << 10

    let id: UInt64
    let request: HTTPRequestDescription
    let completion: Completion
    let easy: EasyHandle
    /// The request's fields in libcurl's form. libcurl does not copy the list, so it lives as long as the transfer.
    var fieldList: UnsafeMutablePointer<curl_slist>?

    /// The proxy of the request.
    var proxy: ProxyRule.Proxy?

    private var fields: HTTPFields = [:]
    private var headerSize = 0
    /// Whether the header has ended. libcurl passes trailers to the same callback after the content.
    private var isHeaderComplete = false
    private var body: [UInt8] = []
    /// Why a callback refused to continue, which libcurl itself can only report as a write error.
    private var refusal: TransportError?

    init(id: UInt64, request: HTTPRequestDescription, easy: EasyHandle, completion: @escaping Completion) {
        self.id = id
        self.request = request
        self.easy = easy
        self.completion = completion
    }

    deinit { curl_slist_free_all(fieldList) }

    /// Returns the outcome, once libcurl has finished the transfer.
    func outcome(_ code: CURLcode) -> Result<HTTPReply, TransportError> {
        if let refusal { return .failure(refusal) }
        guard code == CURLE_OK else {
            return .failure(
                TransportError(code, text: easy.errorText(for: code), limit: request.maximumResponseSize, proxy: proxy?.description))
        }
        return .success(HTTPReply(status: easy.responseCode, fields: fields, body: body, proxy: proxy?.description))
    }

    /// - Returns: whether to continue.
    func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= request.maximumResponseSize else {
            refusal = .tooLarge(limit: request.maximumResponseSize)
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    /// Handles one line of the header, including its line end. After a `100 Continue` comes another status line.
    /// - Returns: whether to continue.
    func receive(header line: UnsafeRawBufferPointer) -> Bool {
        headerSize += line.count
        guard headerSize <= Self.maximumHeaderSize else {
            refusal = .malformedResponse("its header has more than \(Self.maximumHeaderSize) bytes")
            return false
        }
        if line.starts(with: "HTTP/".utf8) {
            fields = [:]
            isHeaderComplete = false
            body.removeAll(keepingCapacity: true)
            return true
        }
        // Trailers may not state what the header may (RFC 9110 §6.5.1).
        guard !isHeaderComplete else { return true }
        if line.allSatisfy({ $0 == 0x0D || $0 == 0x0A }) {
            isHeaderComplete = true
            return true
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
        else { return true }
        let value = line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
        // An empty value has a meaning too: an empty `Expires` is an invalid date. Bytes are kept unchanged (RFC 9110 §5.5).
        let end = value.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? value.startIndex
        fields.append(HTTPField(name: name, value: value[..<end]))
        return true
    }
}

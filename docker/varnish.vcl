# Varnish in front of Freshet: one request to the server answers all readers that wait at one position. docs/operating/shared-caches.md says when that is
# worth it. The server runs with --edge '*', and so everybody who reaches Varnish may read: with keys, use edge-cache-keys.conf.
#
# This file does not bound the requests of one client, which the server leaves to its edge. Varnish waits for the
# response to a poll also if its client has left. On a public network, a firewall or proxy in front of Varnish has to
# bound the rate at which one address sends requests. With varnish-modules, vsthrottle does so here.
vcl 4.1;

backend freshet {
    .host = "freshet";
    .port = "8180";
    .connect_timeout = 2s;
    # Longer than a poll waits (60 seconds at most), and than the pause between the comments of a stream (15 seconds).
    .first_byte_timeout = 90s;
    .between_bytes_timeout = 90s;
}

sub vcl_recv {
    # A poll that waits, spelled as the protocol says and without further parameters.
    # Everything else depends on its moment, or on its client alone.
    if (req.method == "GET" && req.http.Accept !~ "(?i)text/event-stream" && !req.http.Authorization
        && req.url ~ "^/v1/[a-z0-9._-]+/changes\?since=[0-9a-z]+-[0-9a-z.-]+&wait=[1-9][0-9]*&limit=[0-9]+(&collection=[A-Za-z0-9._-]+)*(&prefix=[A-Za-z0-9._~%-]+)?(&values=false)?$") {
        return (hash);
    }
    return (pass);
}

sub vcl_hash {
    hash_data(req.url);
    # Responses to web pages have further fields.
    hash_data(req.http.Origin);
    return (lookup);
}

sub vcl_backend_response {
    # Nothing is given out after its second has passed: a reader would take it for the present state.
    set beresp.grace = 0s;
    set beresp.keep = 0s;
    if (beresp.http.Cache-Control !~ "(?i)public") {
        set beresp.uncacheable = true;
        set beresp.ttl = 1s;
    } elsif (beresp.status == 503) {
        # Varnish keeps no 503 by itself: then all who wait would ask a server in trouble, one after another.
        set beresp.ttl = 1s;
    }
    return (deliver);
}

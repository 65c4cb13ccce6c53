/**
 * The nginx configuration of an installed hub: addresses, locations, body sizes and rate limits.
 */

export type Site = {
  /** Where nginx listens: loopback, an address of this machine, `0.0.0.0` or `::`. */
  bind: string
  /** What is published beyond loopback: the whole hub, or only the unsubscribe links in mails. */
  published: 'hub' | 'unsubscribe'
  /** The host names for `server_name`. */
  names: string
  /** The folder of hub.crt and hub.key. */
  tls_dir: string
  /** The headers of every proxied request; only root can read this file. */
  proxy_file: string
  /** What certbot puts there is published beyond loopback: a certificate authority reads it. */
  answers_dir: string
  /** Whether this nginx can limit rates and connections; Ubuntu 22.04's nginx-light cannot. */
  has_limits: boolean
  upstream?: string
}

const MIB = 1_048_576

/**
 * renderProxy renders the proxy headers with nginx's secret, without which the hub ignores
 * X-Real-IP.
 */
export function renderProxy(secret: string): string {
  if (!/^[\w-]{32,64}$/.test(secret))
    throw new Error('proxy.secret is damaged: delete it and run the installer again.')
  return `proxy_http_version 1.1;
proxy_set_header Host $http_host;
proxy_set_header X-Real-IP $remote_addr;
proxy_set_header X-Forwarded-For "";
proxy_set_header X-Forwarded-Proto $scheme;
proxy_set_header X-Watchpost-Proxy ${secret};
proxy_set_header Connection "";
`
}

/** renderSite renders the file in nginx's conf.d. */
export function renderSite(site: Site): string {
  const { bind, published, names, tls_dir } = site
  const head = `# Watchpost Hub. Written by its installer, which replaces it on the next run.\n${zones(site)}`
  if (isLoopback(bind))
    return `${head}${server(`${bracketed(bind)}:80`, 'localhost', '', hub(site))}`
  const place = bind === '0.0.0.0' ? '' : `${bracketed(bind)}:`
  const tls = `    ssl_certificate ${tls_dir}/hub.crt;\n    ssl_certificate_key ${tls_dir}/hub.key;\n`
  const toTls = '        return 301 https://$host$request_uri;\n'
  const answers = `    location ^~ /.well-known/acme-challenge/ {
        root ${site.answers_dir};
        default_type text/plain;
        limit_except GET {
            deny all;
        }
    }
`
  if (published === 'hub') {
    const plain = server(`${place}80`, names, '', `${answers}    location / {\n${toTls}    }\n`)
    return `${head}${plain}${server(`${place}443 ssl`, names, tls, hub(site))}`
  }
  const nothing = '    location / {\n        return 404;\n    }\n'
  const links = `${answers}    location ^~ /api/cockpit/u/ {\n${toTls}    }\n${nothing}`
  return `${head}# The web interface, on this machine only.
${server('127.0.0.1:80', 'localhost', '', hub(site))}${server(`${place}80`, names, '', links)}${server(
  `${place}443 ssl`,
  names,
  tls,
  `${unsubscribe(site)}${nothing}`,
)}`
}

const isLoopback = (address: string) => /^127\./.test(address) || address === '::1'
const bracketed = (address: string) => (address.includes(':') ? `[${address}]` : address)

/** Rate limits count an IPv6 /64 as one client: its first four groups, or those before a `::`. */
function zones({ has_limits }: Site): string {
  if (!has_limits)
    return '# This nginx limits neither rates nor connections: install nginx-core for that.\n'
  return `map $remote_addr $watchpost_client {
    default $remote_addr;
    "~^(?<watchpost_short>(?:[0-9a-f]+:){1,3}):" $watchpost_short;
    "~^(?<watchpost_net>(?:[0-9a-f]+:){4})" $watchpost_net;
}
limit_req_zone $watchpost_client zone=watchpost_all:10m rate=50r/s;
limit_req_zone $watchpost_client zone=watchpost_doors:10m rate=2r/s;
limit_conn_zone $watchpost_client zone=watchpost_open:10m;
limit_req_status 429;
limit_conn_status 429;
`
}

function server(listen: string, names: string, tls: string, locations: string): string {
  return `server {
    listen ${listen};
    server_name ${names};
${tls}    server_tokens off;
    # Unexpected bodies are refused before they are read; slow clients are cut off.
    client_max_body_size 4k;
    client_header_timeout 15s;
    client_body_timeout 15s;
    large_client_header_buffers 4 8k;
    reset_timedout_connection on;
${locations}}
`
}

const limited = ({ has_limits }: Site, zone: 'all' | 'doors', burst: number) =>
  has_limits
    ? `        limit_req zone=watchpost_${zone} burst=${burst} nodelay;\n        limit_conn watchpost_open 50;\n`
    : ''

function pass({ upstream = 'http://127.0.0.1:8770', proxy_file }: Site, path = ''): string {
  return `        proxy_pass ${upstream}${path};\n        include ${proxy_file};\n`
}

/** An upload: auth_request has the hub check the session before nginx reads the body. */
function upload(site: Site, location: string, most: string): string {
  return `    location ${location} {
        auth_request /watchpost-session;
        client_max_body_size ${most};
        client_body_timeout 60s;
        proxy_request_buffering off;
        proxy_read_timeout 1h;
${limited(site, 'doors', 20)}${pass(site)}    }
`
}

const uploads = (site: Site) =>
  [
    upload(site, '~ ^/api/cockpit/leads/import(_preview)?$', '20m'),
    // 20 MiB of files, and the lines of the form around them.
    upload(site, '= /api/cockpit/documents/upload', '21m'),
    upload(site, '= /api/cockpit/backup/upload', '20g'),
  ].join('')

function unsubscribe(site: Site): string {
  return `    location = /api/cockpit/u {
        return 404;
    }
    # Mail programs post here, often many from one address.
    location ^~ /api/cockpit/u/ {
${limited(site, 'all', 500)}${pass(site)}    }
`
}

function hub(site: Site): string {
  return `    location = / {
        return 302 /hub/;
    }
    location /hub/ {
        limit_except GET {
            deny all;
        }
${limited(site, 'all', 300)}${pass(site)}    }
${unsubscribe(site)}    location ~ ^/api/cockpit/(login|setup|password)$ {
${limited(site, 'doors', 10)}${pass(site)}    }
    location /api/cockpit/ {
        client_max_body_size ${2 * MIB};
        # Bodies are not buffered on disk; the progress of missions is streamed.
        proxy_request_buffering off;
        proxy_buffering off;
        proxy_read_timeout 1h;
${limited(site, 'all', 300)}${pass(site)}    }
${uploads(site)}    location = /watchpost-session {
        internal;
        # Called without the body, whose size is limited at its own location.
        client_max_body_size 0;
${pass(site, '/api/cockpit/session')}        proxy_pass_request_body off;
        proxy_set_header Content-Length "";
    }
`
}

/** nginx's part of an installed hub: what is published where, to whom, and how much of it. */

export type Site = {
  /** Where nginx listens: loopback, an address of this machine, `0.0.0.0` or `::`. */
  bind: string
  /** What is answered beyond loopback: everything, or the links in letters and nothing else. */
  published: 'hub' | 'unsubscribe'
  /** By which names it is called there. */
  names: string
  /** The folder of hub.crt and hub.key. */
  tls_dir: string
  /** What every passed request carries; readable by root alone. */
  proxy_file: string
  /** Whether this nginx can limit rates and connections; Ubuntu 22.04's nginx-light cannot. */
  has_limits: boolean
  upstream?: string
}

const MIB = 1_048_576

/** renderProxy makes the file that holds nginx's secret; only with it the hub believes X-Real-IP. */
export function renderProxy(secret: string): string {
  if (!/^[\w-]{32,64}$/.test(secret))
    throw new Error('proxy.secret is damaged: remove it, install again.')
  return `proxy_http_version 1.1;
proxy_set_header Host $http_host;
proxy_set_header X-Real-IP $remote_addr;
proxy_set_header X-Forwarded-For "";
proxy_set_header X-Forwarded-Proto $scheme;
proxy_set_header X-Watchpost-Proxy ${secret};
proxy_set_header Connection "";
`
}

/** renderSite makes the file in conf.d. */
export function renderSite(site: Site): string {
  const { bind, published, names, tls_dir } = site
  const head = `# Watchpost Hub. Written by its installer, which replaces it on the next run.\n${zones(site)}`
  if (isLoopback(bind))
    return `${head}${server(`${bracketed(bind)}:80`, 'localhost', '', hub(site))}`
  const place = bind === '0.0.0.0' ? '' : `${bracketed(bind)}:`
  const tls = `    ssl_certificate ${tls_dir}/hub.crt;\n    ssl_certificate_key ${tls_dir}/hub.key;\n`
  const toTls = '        return 301 https://$host$request_uri;\n'
  if (published === 'hub') {
    const plain = server(`${place}80`, names, '', `    location / {\n${toTls}    }\n`)
    return `${head}${plain}${server(`${place}443 ssl`, names, tls, hub(site))}`
  }
  const nothing = '    location / {\n        return 404;\n    }\n'
  const links = `    location ^~ /api/cockpit/u/ {\n${toTls}    }\n${nothing}`
  return `${head}# The interface: on this machine alone.
${server('127.0.0.1:80', 'localhost', '', hub(site))}${server(`${place}80`, names, '', links)}${server(
  `${place}443 ssl`,
  names,
  tls,
  `${unsubscribe(site)}${nothing}`,
)}`
}

const isLoopback = (address: string) => /^127\./.test(address) || address === '::1'
const bracketed = (address: string) => (address.includes(':') ? `[${address}]` : address)

/** Who has an IPv6 network counts as one: by its first four groups, or what stands before a \`::\`. */
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
    # A body that nobody expects is refused before it comes, and a slow one is cut off.
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

/** Behind auth_request: the hub is asked who it is before a byte of the body is taken. */
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

function unsubscribe(site: Site): string {
  return `    location = /api/cockpit/u {
        return 404;
    }
    # Mail programs post here, many from one address.
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
        # Nothing is kept on the disk, and progress of missions is streamed.
        proxy_request_buffering off;
        proxy_buffering off;
        proxy_read_timeout 1h;
${limited(site, 'all', 300)}${pass(site)}    }
${upload(site, '~ ^/api/cockpit/leads/import(_preview)?$', '20m')}${upload(
  site,
  '= /api/cockpit/backup/upload',
  '20g',
)}    location = /watchpost-session {
        internal;
        # Asked without the body, whose length is judged where it goes.
        client_max_body_size 0;
${pass(site, '/api/cockpit/session')}        proxy_pass_request_body off;
        proxy_set_header Content-Length "";
    }
`
}

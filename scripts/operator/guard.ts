import { createMiddleware } from 'hono/factory'
import { secureHeaders } from 'hono/secure-headers'
import { ApiError } from '../../shared/problem.ts'

/** The page may load its own files, send to its own address, and nothing else. */
export const pageHeaders = secureHeaders({
  // It is never served over TLS.
  strictTransportSecurity: false,
  xFrameOptions: 'DENY',
  referrerPolicy: 'no-referrer',
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'", 'data:'],
    fontSrc: ["'self'"],
    connectSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
})

/**
 * Refuses requests under another name than this machine's: a page anywhere may let its own name lead to 127.0.0.1 and
 * would then count as the origin of what it asks (DNS rebinding). The port is whichever leads here, also through ssh.
 */
export const onlyLoopbackNames = createMiddleware(async (c, next) => {
  const host = c.req.header('host') ?? ''
  if (!/^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/i.test(host)) {
    throw new ApiError(
      'forbidden',
      'The operator page answers to localhost and 127.0.0.1 only. From another machine, reach it through ssh -L.',
    )
  }
  await next()
})

/**
 * Refuses what pages of other origins send. Other ports of this machine are other origins, but the same site, so that
 * SameSite does not keep them from sending the cookie.
 */
export const onlyOwnPage = createMiddleware(async (c, next) => {
  const site = c.req.header('sec-fetch-site')
  const origin = c.req.header('origin')
  const isOwn =
    (site === undefined || site === 'same-origin') &&
    (origin === undefined ? c.req.method === 'GET' : origin === `http://${c.req.header('host')}`)
  if (!isOwn) {
    throw new ApiError('forbidden', 'Only the operator page itself may ask for this.')
  }
  await next()
})

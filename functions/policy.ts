/**
 * pagePolicy is the Content-Security-Policy of every page, as `secureHeaders` takes it: only files of
 * their own, and `origins` that are asked for data. W3C Content Security Policy Level 3.
 */
export function pagePolicy({
  form_action = "'none'",
  connect = [],
  images = [],
}: {
  form_action?: "'none'" | "'self'"
  connect?: string[]
  images?: string[]
}) {
  return {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    // The `data:` images are icons in swagger-ui's CSS.
    imgSrc: ["'self'", 'data:', ...images],
    fontSrc: ["'self'"],
    connectSrc: ["'self'", ...connect],
    baseUri: ["'none'"],
    formAction: [form_action],
    frameAncestors: ["'none'"],
  }
}

/** The policy as a header has it. */
export function policyText(policy: Partial<ReturnType<typeof pagePolicy>>): string {
  return Object.entries(policy)
    .map(([name, sources]) =>
      [name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), ...sources].join(' '),
    )
    .join('; ')
}

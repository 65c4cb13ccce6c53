import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Env } from '../context.ts'
import { describe, registerMessages } from '../openapi/document.ts'

/** Serves the OpenAPI document (openapi.json, openapi.yaml) and its page at /docs. */
export function mountDocs(app: OpenAPIHono<Env>, base: string): void {
  registerMessages(app)
  let document: ReturnType<typeof describe> | undefined
  const once = (url: string) => {
    document ??= describe(app, url)
    return document
  }
  app.get(`${base}/openapi.json`, (c) => {
    c.header('Cache-Control', 'public, max-age=300')
    return c.json(once(c.get('deps').public_url))
  })
  app.get(`${base}/openapi.yaml`, async (c) => {
    const { stringify } = await import('yaml')
    c.header('Cache-Control', 'public, max-age=300')
    c.header('Content-Type', 'application/yaml')
    return c.body(stringify(once(c.get('deps').public_url), { aliasDuplicateObjects: false }))
  })
  // Relative, because a proxy or platform may serve the app under a path of its own.
  const description = `${base.slice(1)}/openapi.json`
  app.get('/docs', (c) => c.html(page(description)))
  app.get('/docs/start.js', (c) =>
    c.body(start(description), 200, { 'Content-Type': 'text/javascript' }),
  )
  app.get('/docs/:file', async (c, next) => {
    const asset = await c.get('deps').asset(`docs/${c.req.param('file')}`)
    if (asset) return asset
    await next()
  })
}

function page(description: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Watchpost API</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="alternate" type="application/json" href="${description}">
</head>
<body>
<div id="docs"><p>The description for machines is at <a href="${description}">/${description}</a>.</p></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`
}

function start(description: string): string {
  return `SwaggerUIBundle({
  url: '${description}',
  dom_id: '#docs',
  deepLinking: true,
  persistAuthorization: false,
  displayRequestDuration: true,
  validatorUrl: null,
})
`
}

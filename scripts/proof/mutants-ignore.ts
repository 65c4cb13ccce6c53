type Named = { type: string; name?: string }
type Node = Named & { key?: Named; callee?: Named & { property?: Named } }

const FIELDS = /^(summary|description|example|examples|title|tags|operationId)$/

/** A plugin of StrykerJS that ignores code for documentation only: the OpenAPI check covers it. */
export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'documents',
    value: {
      shouldIgnore({ node }: { node: Node }): string | undefined {
        const isField = node.type === 'ObjectProperty' && FIELDS.test(node.key?.name ?? '')
        const isCall = node.type === 'CallExpression' && node.callee?.property?.name === 'describe'
        return isField || isCall ? 'It only documents.' : undefined
      },
    },
  },
]

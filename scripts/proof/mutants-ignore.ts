type Named = { type: string; name?: string }
type Node = Named & {
  key?: Named
  callee?: Named & { property?: Named }
  properties?: Node[]
}

const FIELDS = /^(summary|description|example|examples|title|tags|operationId)$/

const isField = ({ type, key }: Node) => type === 'ObjectProperty' && FIELDS.test(key?.name ?? '')

/** A plugin of StrykerJS that ignores code for documentation only: the OpenAPI check covers it. */
export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'documents',
    value: {
      shouldIgnore({ node }: { node: Node }): string | undefined {
        const isCall = node.type === 'CallExpression' && node.callee?.property?.name === 'describe'
        const fields = node.properties ?? []
        const hasOnlyFields = fields.length > 0 && fields.every(isField)
        return isField(node) || isCall || hasOnlyFields ? 'It only documents.' : undefined
      },
    },
  },
]

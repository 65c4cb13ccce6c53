type Named = { type: string; name?: string }
type Node = Named & {
  key?: Named
  callee?: Named & { property?: Named }
  properties?: Node[]
  elements?: Node[]
}
type Path = {
  node: Node
  parent: Node | null
  listKey?: string | undefined
  parentPath?: { parentPath?: { parentPath?: { parentPath?: { node?: Node } } } } | null
}

const FIELDS = /^(summary|description|example|examples|title|tags|operationId)$/
/** Methods of a schema whose arguments stand in the OpenAPI document alone. */
const DOCUMENTING = /^(describe|meta)$/

const isField = ({ type, key }: Node) => type === 'ObjectProperty' && FIELDS.test(key?.name ?? '')

const documents = ({ parent, listKey }: Path) =>
  listKey === 'arguments' && DOCUMENTING.test(parent?.callee?.property?.name ?? '')

/** The empty list of `security: [{ key: [] }]`: a key has no scopes in OpenAPI, and the document writes it anew. */
const isListOfScopes = ({ node, parentPath }: Path) =>
  node.type === 'ArrayExpression' &&
  node.elements?.length === 0 &&
  parentPath?.parentPath?.parentPath?.parentPath?.node?.key?.name === 'security'

/** Tells StrykerJS to ignore code for documentation only: the OpenAPI check covers it. */
export const documentation = {
  shouldIgnore(path: Path): string | undefined {
    const { node } = path
    const fields = node.properties ?? []
    const hasOnlyFields = fields.length > 0 && fields.every(isField)
    const isIgnored = isField(node) || documents(path) || hasOnlyFields || isListOfScopes(path)
    return isIgnored ? 'It only documents.' : undefined
  },
}

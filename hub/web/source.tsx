/** The source of a fact; it is a link only if it is clearly a web address. */
export function Source({ source }: { source: string }) {
  if (!/^https?:\/\//i.test(source) || !URL.canParse(source)) {
    return <span className="break-all">{source}</span>
  }
  return (
    <a
      href={source}
      target="_blank"
      rel="noreferrer noopener"
      className="rounded-control break-all text-accent-text hover:underline"
    >
      {source.replace(/^https?:\/\//i, '')}
    </a>
  )
}

/** Names with their figures beside each other, as many as fit in a line: a row of a table on a phone. */
export function Figures({
  figures,
}: {
  figures: readonly (readonly [name: string, figure: string])[]
}) {
  return (
    <dl className="flex flex-wrap gap-x-4 text-sm">
      {figures.map(([name, figure]) => (
        <div key={name}>
          <dt className="mr-1 inline text-muted">{name}</dt>
          <dd className="inline">{figure}</dd>
        </div>
      ))}
    </dl>
  )
}

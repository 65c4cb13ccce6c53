export function ZonesPage({ id }: { id: string | undefined }) {
  return <p>{id}</p>
}

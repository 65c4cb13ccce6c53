declare module '*.css'

/** A file of a package, which Vite serves under the address that is imported. */
declare module '*?url' {
  const url: string
  export default url
}
declare module '*?worker&url' {
  const url: string
  export default url
}

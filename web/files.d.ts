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

/** What we use of it. */
declare module 'papaparse' {
  type Step<T> = { data: T; meta: { cursor: number } }
  const Papa: {
    parse: <T>(
      text: string,
      options: { delimitersToGuess: string[]; step: (step: Step<T>) => void },
    ) => void
  }
  export default Papa
}

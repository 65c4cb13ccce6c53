declare module 'pdfmake' {
  export type Content = string | { [property: string]: unknown } | Content[]
  type Output = { getBuffer: () => Promise<Uint8Array> }
  const pdfmake: {
    setFonts: (fonts: Record<string, Record<string, string>>) => void
    setLocalAccessPolicy: (isAllowed: (path: string) => boolean) => void
    setUrlAccessPolicy: (isAllowed: (url: string) => boolean) => void
    createPdf: (document: { content: Content; [property: string]: unknown }) => Output
  }
  export default pdfmake
}

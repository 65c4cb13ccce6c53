import { resolve } from 'node:path'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const here = import.meta.dirname

/** Built apart from the console, because the public address must not serve it. */
export default defineConfig({
  root: here,
  base: './',
  publicDir: resolve(here, '../public'),
  plugins: [react(), tailwind()],
  build: {
    outDir: resolve(here, '../../dist/operator'),
    emptyOutDir: true,
    // The content security policy does not allow data: for fonts and scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})

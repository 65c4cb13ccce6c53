import { resolve } from 'node:path'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const here = import.meta.dirname

export default defineConfig({
  root: here,
  // Relative, because a proxy or platform may serve the console under a path of its own.
  base: './',
  plugins: [react(), tailwind()],
  worker: { format: 'es' },
  build: {
    outDir: resolve(here, '../dist/console'),
    emptyOutDir: true,
    // The content security policy does not allow data: for fonts and scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The map's library is one file, loaded when a map is shown.
    chunkSizeWarningLimit: 1500,
  },
})

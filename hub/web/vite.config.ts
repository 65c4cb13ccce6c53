import { resolve } from 'node:path'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const here = import.meta.dirname

export default defineConfig({
  root: here,
  base: '/hub/',
  plugins: [react(), tailwind()],
  build: {
    outDir: resolve(here, '../../dist/hub'),
    emptyOutDir: true,
    // The content security policy does not allow data: for fonts and scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})

/**
 * Writes the CRD into infra/kubernetes; a test fails while the file and the schema differ.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crdFile } from './crd-file.ts';

const folder = join(import.meta.dirname, '..', '..', 'infra', 'kubernetes');
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'crd-rotationpolicy.yaml'), crdFile());

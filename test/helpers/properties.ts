import fc from 'fast-check';

// Properties run the same cases each time, so that a failure is due to the change that is tested. `npm run chaos --
// --explore` runs new ones.
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 20_260_115) });

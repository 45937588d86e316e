/** Has the types of every entry. That of `otel` needs @opentelemetry/api. */
export * as sdk from 'context-gateway';
export * as aiSdk from 'context-gateway/ai-sdk';
export * as conversation from 'context-gateway/conversation';
export * as testing from 'context-gateway/conversation/testing';
export * as redis from 'context-gateway/redis';
export * as schemas from 'context-gateway/schemas';
export * as stores from 'context-gateway/stores';

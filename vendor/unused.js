// In place of what Plot imports for maps, colours, legends and tips, none of which the report draws.
const none = () => undefined;
export const createLegends = () => [];
export const getGeometryChannels = () => [];
export {
  none as createProjection, none as hasProjection, none as project, none as projectionAspectRatio, none as xyProjection, none as geoPath,
  none as exposeLegends, none as pointer, none as pointerX, none as pointerY, none as tip,
  none as isCategoricalScheme, none as isDivergingScheme, none as maybeBooleanRange, none as ordinalRange, none as ordinalScheme,
  none as quantitativeScheme,
};

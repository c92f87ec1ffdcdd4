//! Vectors in space.

/// Three coordinates.
pub type Vector = [f64; 3];

/// The scalar product.
#[must_use]
pub fn dot(a: &Vector, b: &Vector) -> f64 {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
}

/// The vector product.
#[must_use]
pub fn cross(a: &Vector, b: &Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Its length.
#[must_use]
pub fn length(a: &Vector) -> f64 {
    dot(a, a).sqrt()
}

/// `a` and so many times `b`.
#[must_use]
pub fn plus(a: &Vector, times: f64, b: &Vector) -> Vector {
    std::array::from_fn(|axis| times.mul_add(b[axis], a[axis]))
}

/// Of length one; none of what has no direction.
#[must_use]
pub fn direction(a: &Vector) -> Option<Vector> {
    let length = length(a);
    (length.is_finite() && length > 1e-9).then(|| a.map(|value| value / length))
}

/// So much of each axis, together.
#[must_use]
pub fn combined(axes: &[Vector; 3], parts: &Vector) -> Vector {
    let mut sum = [0.0; 3];
    for (axis, part) in axes.iter().zip(parts) {
        sum = plus(&sum, *part, axis);
    }
    sum
}

/// How much of each axis a place is; none where the axes span no volume.
#[must_use]
pub fn fractions_in(axes: &[Vector; 3], at: &Vector) -> Option<Vector> {
    let normals = [
        cross(&axes[1], &axes[2]),
        cross(&axes[2], &axes[0]),
        cross(&axes[0], &axes[1]),
    ];
    let volume = dot(&axes[0], &normals[0]);
    let parts = normals.map(|normal| dot(&normal, at) / volume);
    let spans = volume.abs() > 1e-9 && parts.iter().all(|part| part.is_finite());
    spans.then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::{combined, fractions_in};

    #[test]
    fn fractions_are_the_way_back_from_places() {
        let axes = [[3.0, 0.1, 0.0], [-1.0, 4.0, 0.5], [0.2, -0.3, 5.0]];
        let parts = [0.25, -1.5, 0.75];
        let found = fractions_in(&axes, &combined(&axes, &parts)).expect("a volume");
        for (found, wanted) in found.iter().zip(parts) {
            assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
        }
        let flat = [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
        assert_eq!(fractions_in(&flat, &[1.0, 1.0, 1.0]), None);
    }
}

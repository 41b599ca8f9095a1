//! Areas of simple shapes.

use std::f64::consts::PI;

/// Anything with an area.
pub trait Shape {
    fn area(&self) -> f64;
    fn name(&self) -> &'static str {
        "shape"
    }
}

pub struct Circle {
    pub radius: f64,
}

pub struct Polygon {
    pub points: Vec<(f64, f64)>,
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        PI * self.radius * self.radius
    }
    fn name(&self) -> &'static str {
        "circle"
    }
}

impl Shape for Polygon {
    /// By the shoelace formula.
    fn area(&self) -> f64 {
        let n = self.points.len();
        let twice: f64 = (0..n)
            .map(|i| {
                let (x1, y1) = self.points[i];
                let (x2, y2) = self.points[(i + 1) % n];
                x1 * y2 - x2 * y1
            })
            .sum();
        twice.abs() / 2.0
    }
}

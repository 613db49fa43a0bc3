// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A device to paint widgets on that makes SVG 1.1: texts stay texts, and what is clipped on the screen is clipped in
/// the document too, which QSvgGenerator does not do.

#include <QMap>
#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainterPath>
#include <QSize>
#include <QString>

namespace strata::studio {

class SvgEngine : public QPaintEngine {
 public:
  explicit SvgEngine(QSize size);
  bool begin(QPaintDevice* device) override;
  bool end() override;
  void updateState(const QPaintEngineState& state) override;
  void drawPath(const QPainterPath& path) override;
  void drawPolygon(const QPointF* points, int count, PolygonDrawMode mode) override;
  void drawPixmap(const QRectF& to, const QPixmap& pixmap, const QRectF& from) override;
  void drawImage(const QRectF& to, const QImage& image, const QRectF& from, Qt::ImageConversionFlags flags) override;
  void drawTextItem(const QPointF& at, const QTextItem& item) override;
  Type type() const override { return User; }
  /// The document; complete after `end`.
  const QString& document() const { return out_; }

 private:
  /// Opens a group with what is valid for the next element, if it differs from the open one.
  void enter();
  void leave();
  QString clip();
  QString stroke() const;
  QString fill();
  QString gradient(const QBrush& brush);
  QSize size_;
  QString out_, group_;
  QMap<QString, int> clips_, gradients_;  ///< by content
  QPainterPath clip_path_;                ///< of the painter, in device coordinates
  bool clipping_ = false;
  QTransform transform_;
  QPen pen_;
  QBrush brush_;
  qreal opacity_ = 1;
};

class SvgDevice : public QPaintDevice {
 public:
  explicit SvgDevice(QSize size) : size_(size), engine_(size) {}
  QPaintEngine* paintEngine() const override { return &engine_; }
  /// UTF-8; valid when nothing paints any more.
  QByteArray document() const { return engine_.document().toUtf8(); }

 protected:
  int metric(PaintDeviceMetric metric) const override;

 private:
  QSize size_;
  mutable SvgEngine engine_;
};

}  // namespace strata::studio
